import type { FunctionNames } from './function-names.ts'

/** Functions that read the time and search for the first millisecond at which a cost fits. */
export function timeFunctions({ schema }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_clock() returns float8 language sql volatile as $$
  select date_part('epoch', clock_timestamp()) * 1000
$$;

create or replace function ${schema}.limit1_first_fit(p float8[], c float8[], now float8, cost float8, guess float8)
returns float8 language plpgsql immutable as $$
declare
  passing float8 := greatest(1, ceil(guess));
  failing float8 := passing - 1;
  stride float8 := 1;
  middle float8;
begin
  if ${schema}.limit1_fits(p, c, now + passing, cost)
    and (passing = 1 or not ${schema}.limit1_fits(p, c, now + failing, cost)) then
    return passing;
  end if;
  while not ${schema}.limit1_fits(p, c, now + passing, cost) loop
    if passing > 1e300 then return 'Infinity'; end if;
    failing := passing;
    passing := passing + stride;
    stride := stride * 2;
  end loop;
  stride := 1;
  while failing > 0 and ${schema}.limit1_fits(p, c, now + failing, cost) loop
    passing := failing;
    failing := greatest(0, failing - stride);
    stride := stride * 2;
  end loop;
  loop
    middle := failing + floor((passing - failing) / 2);
    if middle <= failing or middle >= passing then return passing; end if;
    if ${schema}.limit1_fits(p, c, now + middle, cost) then passing := middle; else failing := middle; end if;
  end loop;
end
$$;

create or replace function ${schema}.limit1_until(instant float8, now float8)
returns float8 language plpgsql immutable as $$
declare
  guess float8 := greatest(1, ceil(instant - now));
begin
  if now + guess >= instant and (guess = 1 or now + (guess - 1) < instant) then return guess; end if;
  return ${schema}.limit1_first_fit(array[0, instant], null, now, 0, guess);
end
$$;`
}
