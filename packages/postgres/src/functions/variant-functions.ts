import type { FunctionNames } from './function-names.ts'
import { KINDS } from './kinds.ts'

/**
 * Functions of policies whose plans have different cell layouts, like `CompiledVariants` of limiter-core. The cells of
 * the variants are stored in sequence. A variant that drains has one more cell; a log is preceded by its length.
 */
export function variantFunctions({ schema }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_variant_at(i int) returns int language sql immutable as $$
  select 6 + (i - 1) * 11
$$;

create or replace function ${schema}.limit1_parts(p float8[], c float8[])
returns ${schema}.limit1_cells[] language plpgsql immutable as $$
declare
  parts ${schema}.limit1_cells[] := '{}';
  place int := 0;
  at int;
  count int;
begin
  for i in 1 .. p[5]::int loop
    at := ${schema}.limit1_variant_at(i);
    if p[at + 3] = ${KINDS['sliding-log']} then
      place := place + 1;
      count := coalesce(c[place], 0);
    else
      count := p[at + 5];
    end if;
    if p[at + 1] > 0 then count := count + 1; end if;
    parts[i].c := coalesce(c[place + 1 : place + count], '{}');
    if cardinality(parts[i].c) < count then
      parts[i].c := parts[i].c || array_fill(0::float8, array[count - cardinality(parts[i].c)]);
    end if;
    place := place + count;
  end loop;
  return parts;
end
$$;

create or replace function ${schema}.limit1_join(p float8[], parts ${schema}.limit1_cells[])
returns float8[] language plpgsql immutable as $$
declare
  c float8[] := '{}';
begin
  for i in 1 .. p[5]::int loop
    if p[${schema}.limit1_variant_at(i) + 3] = ${KINDS['sliding-log']} then c := c || cardinality(parts[i].c)::float8; end if;
    c := c || parts[i].c;
  end loop;
  return c;
end
$$;

create or replace function ${schema}.limit1_wait_of_variants(p float8[], c float8[], now float8, cost float8)
returns float8 language plpgsql immutable as $$
declare
  parts ${schema}.limit1_cells[] := ${schema}.limit1_parts(p, c);
  longest float8 := 0;
  at int;
begin
  for i in 1 .. p[5]::int loop
    at := ${schema}.limit1_variant_at(i);
    if p[at] <> 2 then
      longest := greatest(longest, ${schema}.limit1_wait(p[at + 3 : at + 10], parts[i].c, now, cost));
    end if;
  end loop;
  return longest;
end
$$;

create or replace function ${schema}.limit1_remaining_of_variants(p float8[], c float8[], now float8)
returns float8 language plpgsql immutable as $$
declare
  parts ${schema}.limit1_cells[] := ${schema}.limit1_parts(p, c);
  fewest float8 := p[2];
  at int;
begin
  for i in 1 .. p[5]::int loop
    at := ${schema}.limit1_variant_at(i);
    if p[at] <> 2 then
      fewest := least(fewest, ${schema}.limit1_remaining(p[at + 3 : at + 10], parts[i].c, now));
    end if;
  end loop;
  return fewest;
end
$$;

create or replace function ${schema}.limit1_reset_of_variants(p float8[], c float8[], now float8, of_all boolean)
returns float8 language plpgsql immutable as $$
declare
  parts ${schema}.limit1_cells[] := ${schema}.limit1_parts(p, c);
  longest float8 := 0;
  at int;
begin
  for i in 1 .. p[5]::int loop
    at := ${schema}.limit1_variant_at(i);
    if of_all or p[at] <> 2 then
      longest := greatest(longest, ${schema}.limit1_reset_after(p[at + 3 : at + 10], parts[i].c, now));
    end if;
  end loop;
  return longest;
end
$$;

create or replace function ${schema}.limit1_fitting(
  per_ms float8, ceiling float8, plain float8[], part float8[], now float8, cost float8
) returns float8 language plpgsql immutable as $$
begin
  if per_ms = 0 then return cost; end if;
  return least(cost, greatest(0, ceiling - ${schema}.limit1_reset_after(plain, part, now) * per_ms));
end
$$;

-- the changed cells of a variant with the further cell of one that drains, which its algorithm does not know
create or replace function ${schema}.limit1_changed(
  per_ms float8, count float8, before float8[], changed float8[]
) returns float8[] language sql immutable as $$
  select case when per_ms > 0 then changed[1 : count::int] || before[count::int + 1 :] else changed end
$$;

create or replace function ${schema}.limit1_spend_in_variants(p float8[], c float8[], now float8, cost float8)
returns float8[] language plpgsql immutable as $$
declare
  parts ${schema}.limit1_cells[] := ${schema}.limit1_parts(p, c);
  plain float8[];
  fitting float8;
  at int;
begin
  for i in 1 .. p[5]::int loop
    at := ${schema}.limit1_variant_at(i);
    plain := p[at + 3 : at + 10];
    fitting := cost;
    if p[at] = 2 then
      fitting := ${schema}.limit1_fitting(p[at + 1], p[at + 2], plain, parts[i].c, now, cost);
      if fitting < cost then
        parts[i].c[cardinality(parts[i].c)] := case when now = 0 then 5e-324 else now end;
      end if;
    end if;
    if fitting > 0 then
      parts[i].c := ${schema}.limit1_changed(p[at + 1], plain[3], parts[i].c,
        ${schema}.limit1_spend(plain, parts[i].c, now, fitting));
    end if;
  end loop;
  return ${schema}.limit1_join(p, parts);
end
$$;

create or replace function ${schema}.limit1_adjust_variants(
  p float8[], c float8[], now float8, units float8, taken_at float8
) returns float8[] language plpgsql immutable as $$
declare
  parts ${schema}.limit1_cells[] := ${schema}.limit1_parts(p, c);
  plain float8[];
  adjusted float8[];
  moved float8 := 0;
  changed float8 := 0;
  fitting float8;
  at int;
begin
  for i in 1 .. p[5]::int loop
    at := ${schema}.limit1_variant_at(i);
    plain := p[at + 3 : at + 10];
    fitting := units;
    if p[at] = 2 and units > 0 then
      fitting := ${schema}.limit1_fitting(p[at + 1], p[at + 2], plain, parts[i].c, now, units);
      if fitting < units then
        parts[i].c[cardinality(parts[i].c)] := case when now = 0 then 5e-324 else now end;
      end if;
    elsif p[at] = 2 and p[at + 1] > 0 and parts[i].c[cardinality(parts[i].c)] <> 0
      and taken_at <= parts[i].c[cardinality(parts[i].c)] then
      fitting := 0;
    end if;
    if fitting <> 0 then
      adjusted := ${schema}.limit1_adjust(plain, parts[i].c, now, fitting, taken_at);
      parts[i].c := ${schema}.limit1_changed(p[at + 1], plain[3], parts[i].c, adjusted[3 :]);
      if p[at] = 0 then moved := adjusted[1]; end if;
      if adjusted[1] <> 0 then changed := 1; end if;
    end if;
  end loop;
  return array[moved, changed] || ${schema}.limit1_join(p, parts);
end
$$;

create or replace function ${schema}.limit1_adopt_in_variants(
  p float8[], c float8[], now float8, known float8, reset_ms float8
) returns float8[] language plpgsql immutable as $$
declare
  parts ${schema}.limit1_cells[] := ${schema}.limit1_parts(p, c);
  plain float8[];
  more float8;
  at int;
begin
  for i in 1 .. p[5]::int loop
    at := ${schema}.limit1_variant_at(i);
    plain := p[at + 3 : at + 10];
    if p[at] = 0 then
      parts[i].c := ${schema}.limit1_changed(p[at + 1], plain[3], parts[i].c,
        ${schema}.limit1_adopt(plain, parts[i].c, now, known,
          case when p[at + 1] > 0 then least(reset_ms, p[at + 2] / p[at + 1]) else reset_ms end));
    else
      more := least(known, plain[2]) - (plain[2] - ${schema}.limit1_remaining(plain, parts[i].c, now));
      if more > 0 then
        parts[i].c := ${schema}.limit1_changed(p[at + 1], plain[3], parts[i].c,
          ${schema}.limit1_spend(plain, parts[i].c, now, more));
      end if;
    end if;
  end loop;
  return ${schema}.limit1_join(p, parts);
end
$$;`
}
