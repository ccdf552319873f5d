import type { FunctionNames } from './function-names.ts'

/**
 * Functions that read the cells `c` of a policy `p` and change nothing. The numbers of a policy are described at
 * `policyNumbers`.
 */
export function readFunctions({ schema }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_fits(p float8[], c float8[], now float8, cost float8)
returns boolean language plpgsql immutable as $$
begin
  case p[1]
  when 6 then
    return (case when c[1] = 0 then 0 else greatest(0, c[1] - now) end) + cost * p[5] <= p[6] + 0.001;
  when 5 then
    return greatest(0, c[1] - greatest(0, now - c[2]) * p[5]) + cost <= p[2] + p[6];
  when 2 then
    c := ${schema}.limit1_roll(p[3], c, now);
    return ${schema}.limit1_unit_ms(p[3], c[1], c[3], c[4], now) + (c[2] + cost) * p[3] <= p[2] * p[3];
  when 3 then
    return ${schema}.limit1_sum_slices(${schema}.limit1_rolled_slices(p, c, now)) + cost <= p[2];
  else
    return now >= p[2];
  end case;
end
$$;

create or replace function ${schema}.limit1_wait(p float8[], c float8[], now float8, cost float8)
returns float8 language plpgsql immutable as $$
declare
  used float8;
  guess float8;
  age int;
begin
  if cost = 0 then return 0; end if;
  case p[1]
  when 1 then
    used := case when now >= c[1] + p[3] then 0 else c[2] end;
    if used + cost <= p[2] then return 0; end if;
    if cost > p[2] then return 'Infinity'; end if;
    return ${schema}.limit1_until(c[1] + p[3], now);
  when 4 then
    age := ${schema}.limit1_expired(p[3], c, now);
    used := cardinality(c) - age + cost - p[2];
    if used <= 0 then return 0; end if;
    if cost > p[2] then return 'Infinity'; end if;
    return ${schema}.limit1_until(c[age + used::int] + p[3], now);
  when 7 then
    return ${schema}.limit1_wait_of_variants(p, c, now, cost);
  when 8 then
    return ${schema}.limit1_wait_of_holding(p, c, now, cost);
  else
    if ${schema}.limit1_fits(p, c, now, cost) then return 0; end if;
    if cost > p[2] then return 'Infinity'; end if;
  end case;
  case p[1]
  when 2 then
    c := ${schema}.limit1_roll(p[3], c, now);
    used := p[2] - cost;
    if c[2] > used then
      guess := least(c[1] + p[3] * (2 - used / c[2]), (case when c[3] = 0 then c[4] else c[1] + p[3] end) + p[3]);
    else
      guess := least(c[1] + p[3] * (1 - (used - c[2]) / c[3]), c[4] + p[3]);
    end if;
    return ${schema}.limit1_first_fit(p, c, now, cost, guess - now);
  when 3 then
    c := ${schema}.limit1_rolled_slices(p, c, now);
    used := ${schema}.limit1_sum_slices(c);
    age := cardinality(c);
    while age > 1 and used + cost > p[2] loop
      used := used - c[age];
      age := age - 1;
    end loop;
    guess := c[1] + p[5] * (cardinality(c) - age);
    return ${schema}.limit1_first_fit(p, c, now, cost, guess - now);
  when 5 then
    used := greatest(0, c[1] - greatest(0, now - c[2]) * p[5]);
    return ${schema}.limit1_first_fit(p, c, now, cost, (used + cost - p[2]) / p[5]);
  else
    guess := (case when c[1] = 0 then 0 else greatest(0, c[1] - now) end) + cost * p[5] - p[6] - 0.001;
    return ${schema}.limit1_first_fit(p, c, now, cost, guess);
  end case;
end
$$;

create or replace function ${schema}.limit1_remaining(p float8[], c float8[], now float8)
returns float8 language plpgsql immutable as $$
declare
  units float8;
begin
  case p[1]
  when 1 then
    return greatest(0, p[2] - (case when now >= c[1] + p[3] then 0 else c[2] end));
  when 4 then
    return greatest(0, p[2] - (cardinality(c) - ${schema}.limit1_expired(p[3], c, now)));
  when 3 then
    return greatest(0, p[2] - ${schema}.limit1_sum_slices(${schema}.limit1_rolled_slices(p, c, now)));
  when 7 then
    return ${schema}.limit1_remaining_of_variants(p, c, now);
  when 8 then
    return greatest(0, ${schema}.limit1_remaining(p[4:], c[11:], now) - ${schema}.limit1_held(p, c, now));
  when 2 then
    c := ${schema}.limit1_roll(p[3], c, now);
    units := floor(p[2] - c[2] - ${schema}.limit1_unit_ms(p[3], c[1], c[3], c[4], now) / p[3]);
  when 5 then
    units := least(p[2], floor(p[2] - greatest(0, c[1] - greatest(0, now - c[2]) * p[5]) + p[6]));
  else
    units := (case when c[1] = 0 then 0 else greatest(0, c[1] - now) end);
    units := least(p[2], floor((p[6] - units + 0.001) / p[5]));
  end case;
  units := greatest(0, units);
  while units > 0 and not ${schema}.limit1_fits(p, c, now, units) loop units := units - 1; end loop;
  while units < p[2] and ${schema}.limit1_fits(p, c, now, units + 1) loop units := units + 1; end loop;
  return units;
end
$$;

create or replace function ${schema}.limit1_reset_after(p float8[], c float8[], now float8)
returns float8 language plpgsql immutable as $$
begin
  case p[1]
  when 1 then
    return case when now >= c[1] + p[3] or c[2] = 0 then 0 else c[1] + p[3] - now end;
  when 2 then
    c := ${schema}.limit1_roll(p[3], c, now);
    if c[2] > 0 then return (case when c[3] = 0 then c[4] else c[1] + p[3] end) + p[3] - now; end if;
    return case when c[3] <> 0 then c[4] + p[3] - now else 0 end;
  when 3 then
    c := ${schema}.limit1_rolled_slices(p, c, now);
    for at in 2 .. cardinality(c) loop
      if c[at] > 0 then return c[1] + p[5] * (cardinality(c) - at + 1) - now; end if;
    end loop;
    return 0;
  when 4 then
    if cardinality(c) = ${schema}.limit1_expired(p[3], c, now) then return 0; end if;
    return c[cardinality(c)] + p[3] - now;
  when 5 then
    return greatest(0, c[1] - greatest(0, now - c[2]) * p[5]) / p[5];
  when 6 then
    return case when c[1] = 0 then 0 else greatest(0, c[1] - now) end;
  when 8 then
    return greatest(${schema}.limit1_reset_after(p[4:], c[11:], now), ${schema}.limit1_held_ms(p, c, now));
  else
    return ${schema}.limit1_reset_of_variants(p, c, now, false);
  end case;
end
$$;

create or replace function ${schema}.limit1_kept(p float8[], c float8[], now float8)
returns float8 language plpgsql immutable as $$
begin
  if p[1] = 7 then return ${schema}.limit1_reset_of_variants(p, c, now, true); end if;
  if p[1] = 8 then
    return greatest(${schema}.limit1_kept(p[4:], c[11:], now), ${schema}.limit1_held_ms(p, c, now));
  end if;
  return ${schema}.limit1_reset_after(p, c, now);
end
$$;

create or replace function ${schema}.limit1_verdict(p float8[], c float8[], now float8, cost float8, wait_ms float8)
returns text language plpgsql immutable as $$
declare
  units float8 := ${schema}.limit1_remaining(p, c, now);
  grows_ms float8 := 0;
begin
  if units < p[2] then
    if wait_ms > 0 and cost = units + 1 then grows_ms := wait_ms;
    else grows_ms := ${schema}.limit1_wait(p, c, now, units + 1);
    end if;
  end if;
  return units || ' ' || wait_ms || ' ' || ${schema}.limit1_reset_after(p, c, now) || ' ' || grows_ms;
end
$$;`
}
