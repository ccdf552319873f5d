import type { FunctionNames } from './function-names.ts'

/** Number of slices in which holds of a key end. */
const SLOTS = 9

/**
 * Functions of policies with holds, like `HoldingPolicy` of limiter-core. `p` is kind, capacity and length of a slice,
 * then the numbers of the policy. The cells are the end of the last slice, the units that are held until the end of each
 * slice, the last slice first, and the cells of the policy.
 */
export function holdFunctions({ schema }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_held(p float8[], c float8[], now float8)
returns float8 language plpgsql immutable as $$
declare
  units float8 := 0;
begin
  for slot in 0 .. ${SLOTS - 1} loop
    exit when c[1] - slot * p[3] <= now;
    units := units + c[slot + 2];
  end loop;
  return units;
end
$$;

create or replace function ${schema}.limit1_held_ms(p float8[], c float8[], now float8)
returns float8 language plpgsql immutable as $$
begin
  for slot in 0 .. ${SLOTS - 1} loop
    exit when c[1] - slot * p[3] <= now;
    if c[slot + 2] > 0 then return c[1] - slot * p[3] - now; end if;
  end loop;
  return 0;
end
$$;

-- -1 if there is no slot: the end of the last slice is 0 after a reset
create or replace function ${schema}.limit1_slot(p float8[], c float8[], ends_at float8)
returns int language sql immutable as $$
  select greatest(-1, least(${SLOTS - 1}, floor((c[1] - ends_at) / p[3] + 0.5)))::int
$$;

create or replace function ${schema}.limit1_still_held(
  p float8[], c float8[], now float8, units float8, ends_at float8
) returns float8 language plpgsql immutable as $$
declare
  found_units float8 := 0;
begin
  if units = 0 or ends_at <= now then return 0; end if;
  for slot in reverse ${schema}.limit1_slot(p, c, ends_at) .. 0 loop found_units := found_units + c[slot + 2]; end loop;
  return least(units, found_units);
end
$$;

create or replace function ${schema}.limit1_wait_of_holding(p float8[], c float8[], now float8, cost float8)
returns float8 language plpgsql immutable as $$
declare
  units float8 := ${schema}.limit1_held(p, c, now);
  since float8 := 0;
  until float8;
  ending float8;
  wait_ms float8;
begin
  if units = 0 then return ${schema}.limit1_wait(p[4:], c[${SLOTS + 2}:], now, cost); end if;
  if cost > p[2] then return 'Infinity'; end if;
  for slot in reverse ${SLOTS - 1} .. 0 loop
    exit when units <= 0;
    until := greatest(0, ceil(c[1] - slot * p[3] - now));
    ending := c[slot + 2];
    if until > 0 and ending > 0 then
      wait_ms := until;
      if cost + units <= p[2] then wait_ms := ${schema}.limit1_wait(p[4:], c[${SLOTS + 2}:], now, cost + units); end if;
      if wait_ms < until then return greatest(since, wait_ms); end if;
      units := units - ending;
      since := until;
    end if;
  end loop;
  return greatest(since, ${schema}.limit1_wait(p[4:], c[${SLOTS + 2}:], now, cost));
end
$$;

create or replace function ${schema}.limit1_hold(p float8[], c float8[], now float8, units float8, for_ms float8)
returns float8[] language plpgsql immutable as $$
declare
  ends_at float8 := (floor((now + least(for_ms, ${SLOTS - 1} * p[3])) / p[3]) + 1) * p[3];
  later int;
  kept float8 := 0;
  at int;
begin
  if units = 0 then return c; end if;
  if ${schema}.limit1_held_ms(p, c, now) = 0 then c := array_fill(0::float8, array[${SLOTS + 1}]) || c[${SLOTS + 2}:]; end if;
  if c[1] = 0 then c[1] := ends_at; end if;
  later := least(${SLOTS}, greatest(-${SLOTS}, floor((ends_at - c[1]) / p[3] + 0.5)))::int;
  if later > 0 then
    -- after the clock was set back, units of the earliest slices may still be held
    for slot in ${SLOTS} - later .. ${SLOTS - 1} loop
      if c[1] - slot * p[3] > now then kept := kept + c[slot + 2]; end if;
    end loop;
    for slot in reverse ${SLOTS - 1} .. 0 loop
      c[slot + 2] := case when slot >= later then c[slot - later + 2] else 0 end;
    end loop;
    c[${SLOTS + 1}] := c[${SLOTS + 1}] + kept;
    c[1] := ends_at;
  end if;
  at := least(${SLOTS - 1}, greatest(0, -later)) + 2;
  c[at] := c[at] + units;
  return c;
end
$$;

create or replace function ${schema}.limit1_release(
  p float8[], c float8[], now float8, units float8, ends_at float8
) returns float8[] language plpgsql immutable as $$
declare
  rest float8 := ${schema}.limit1_still_held(p, c, now, units, ends_at);
  freed float8;
begin
  if rest = 0 then return c; end if;
  for slot in reverse ${schema}.limit1_slot(p, c, ends_at) .. 0 loop
    freed := least(rest, c[slot + 2]);
    c[slot + 2] := c[slot + 2] - freed;
    rest := rest - freed;
  end loop;
  return c;
end
$$;`
}
