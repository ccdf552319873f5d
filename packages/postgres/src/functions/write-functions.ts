import type { FunctionNames } from './function-names.ts'

/** Functions that return the changed cells `c` of a policy `p`. */
export function writeFunctions({ schema }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_spend(p float8[], c float8[], now float8, cost float8)
returns float8[] language plpgsql immutable as $$
declare
  used float8;
begin
  if cost = 0 then return c; end if;
  case p[1]
  when 1 then
    used := case when now >= c[1] + p[3] then 0 else c[2] end;
    if used = 0 then c[1] := now; end if;
    c[2] := used + cost;
  when 2 then
    c := ${schema}.limit1_settle(p[3], c, now);
    if c[2] = 0 and c[3] = 0 then
      c[1] := now;
      c[4] := now;
    elsif c[3] = 0 then
      c[4] := greatest(c[4], now);
    end if;
    c[2] := c[2] + cost;
  when 3 then
    c := ${schema}.limit1_rolled_slices(p, c, now);
    if ${schema}.limit1_sum_slices(c) = 0 then c[1] := now; end if;
    c[2] := c[2] + cost;
  when 4 then
    c := c[${schema}.limit1_expired(p[3], c, now) + 1 :];
    used := greatest(now, c[cardinality(c)]);
    c := c || array_fill(used, array[least(cost, p[4])::int]);
    if cardinality(c) > p[4] then c := c[cardinality(c) - p[4]::int + 1 :]; end if;
  when 5 then
    used := greatest(0, c[1] - greatest(0, now - c[2]) * p[5]);
    c[1] := used + cost;
    c[2] := greatest(now, c[2]);
  when 6 then
    c[1] := greatest(now, c[1]) + cost * p[5];
  when 8 then
    return c[1 : 10] || ${schema}.limit1_spend(p[4:], c[11:], now, cost);
  else
    c := ${schema}.limit1_spend_in_variants(p, c, now, cost);
  end case;
  return c;
end
$$;

create or replace function ${schema}.limit1_adopt(p float8[], c float8[], now float8, known float8, reset_ms float8)
returns float8[] language plpgsql immutable as $$
declare
  slices int;
  last_at float8;
begin
  case p[1]
  when 1 then
    if known > 0 and reset_ms > 0 then return array[now + least(reset_ms, p[3]) - p[3], known]; end if;
    return array[0, 0];
  when 2 then
    if not (known > 0 and reset_ms > 0) then return array[0, 0, 0, 0]; end if;
    last_at := now + least(reset_ms, 2 * p[3]) - p[3];
    if last_at > now then return array[last_at - p[3], known, 0, last_at]; end if;
    return array[now, 0, -known, last_at];
  when 3 then
    c := array_fill(0::float8, array[p[4]::int + 2]);
    if not (known > 0 and reset_ms > 0) then return c; end if;
    slices := least(p[4] + 1, ceil(reset_ms / p[5]));
    c[1] := now + least(reset_ms, slices * p[5]) - slices * p[5];
    c[cardinality(c) - slices + 1] := known;
    return c;
  when 4 then
    if not (reset_ms > 0) then return '{}'; end if;
    return array_fill(now + least(reset_ms, p[3]) - p[3], array[least(ceil(known), p[4])::int]);
  when 5 then
    last_at := greatest(0, reset_ms * p[5]);
    c[1] := case when known < p[2] then greatest(0, least(known, last_at)) else last_at end;
    c[2] := case when c[1] = 0 then 0 else greatest(now, c[2]) end;
    return c;
  when 6 then
    last_at := case when known < p[2] then least(known * p[5], reset_ms) else reset_ms end;
    c[1] := case when last_at > 0 then now + last_at else 0 end;
    return c;
  when 8 then
    return array_fill(0::float8, array[10]) || ${schema}.limit1_adopt(p[4:], c[11:], now, known, reset_ms);
  else
    return ${schema}.limit1_adopt_in_variants(p, c, now, known, reset_ms);
  end case;
end
$$;

create or replace function ${schema}.limit1_raise(p float8[], c float8[], now float8, units float8, reset_ms float8)
returns float8[] language plpgsql immutable as $$
declare
  used float8 := p[2] - ${schema}.limit1_remaining(p, c, now);
  adjusted float8[];
begin
  if used > 0 then
    adjusted := ${schema}.limit1_adjust(p, c, now, units, now);
    c := adjusted[3 :];
    if adjusted[1] = units then return c; end if;
  end if;
  return ${schema}.limit1_adopt(
    p, c, now, used + units, greatest(reset_ms, ${schema}.limit1_reset_after(p, c, now)));
end
$$;`
}
