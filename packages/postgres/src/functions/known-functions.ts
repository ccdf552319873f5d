import type { FunctionNames } from './function-names.ts'

/**
 * Functions that restore usage which the table has lost or never received.
 *
 * The row ` mark:` of a key has the times of its last reset and its last refund. Usage that was reported earlier is
 * invalid. The row lasts as long as such usage may be reported.
 *
 * The unlogged table of the epoch has one row with the time before which counts may have been lost. PostgreSQL deletes
 * the row in each crash recovery, and a promoted replica does not have it. Usage that was reported later is in the
 * table of limits.
 */
export function knownFunctions({ schema, epoch }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_new_epoch() returns float8 language plpgsql volatile as $$
declare
  found_since float8;
begin
  insert into ${epoch} values (true, ${schema}.limit1_clock()) on conflict do nothing;
  select since into found_since from ${epoch} where sole;
  return found_since;
end
$$;

create or replace function ${schema}.limit1_contact() returns text language plpgsql volatile as $$
declare
  lost_before float8;
begin
  select since into lost_before from ${epoch} where sole;
  if lost_before is null then lost_before := ${schema}.limit1_new_epoch(); end if;
  return ${schema}.limit1_clock() || ' ' || lost_before;
end
$$;

create or replace function ${schema}.limit1_mark_refund(of_name text, now float8, until_time float8)
returns void language plpgsql volatile as $$
begin
  insert into ${schema}.limits as l (name, cells, kept_until) values (' mark:' || of_name, array[0, now], until_time)
    on conflict (name) do update set cells = array[l.cells[1], excluded.cells[2]],
    kept_until = greatest(l.kept_until, excluded.kept_until);
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
$$;

create or replace function ${schema}.limit1_make_good(
  of_name text, p float8[], c float8[], now float8, lost_before float8, known float8[]
) returns float8[] language plpgsql volatile as $$
declare
  void_until float8;
  refunded_at float8;
  missing float8;
  units float8;
begin
  select cells[1], cells[2] into void_until, refunded_at from ${schema}.limits where name = ' mark:' || of_name;
  void_until := coalesce(void_until, 0);
  if known[1] > 0 and known[3] > greatest(void_until, refunded_at) and (known[3] = 'Infinity' or known[3] <= lost_before) then
    missing := known[1] - (p[2] - ${schema}.limit1_remaining(p, c, now));
    if missing > 0 then
      c := ${schema}.limit1_raise(p, c, now, missing, known[2]);
      if ${schema}.limit1_reset_after(p, c, now) < known[2] then
        c := ${schema}.limit1_adopt(p, c, now, known[1], known[2]);
      end if;
    end if;
  end if;
  units := ${schema}.limit1_remaining(p, c, now);
  units := least(units, known[4] + greatest(0, least(known[5], known[6] - (p[2] - units))));
  if units > 0 and known[7] > void_until then c := ${schema}.limit1_raise(p, c, now, units, known[2]); end if;
  return c;
end
$$;`
}
