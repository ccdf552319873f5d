import type { FunctionNames } from './function-names.ts'

/** Functions that create and check the cells of a policy. */
export function cellFunctions({ schema }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_cell_count(p float8[]) returns int language sql immutable as $$
  select case p[1] when 1 then 2 when 2 then 4 when 3 then p[4]::int + 2 when 5 then 2 when 6 then 1 end
$$;

create or replace function ${schema}.limit1_unused(p float8[]) returns float8[] language plpgsql immutable as $$
begin
  case p[1]
  when 1 then return '{0,0}';
  when 2 then return '{0,0,0,0}';
  when 3 then return array_fill(0::float8, array[p[4]::int + 2]);
  when 5 then return '{0,0}';
  when 6 then return '{0}';
  when 8 then return array_fill(0::float8, array[10]) || ${schema}.limit1_unused(p[4:]);
  else return '{}';
  end case;
end
$$;

create or replace function ${schema}.limit1_is_usable(p float8[], c float8[])
returns boolean language plpgsql immutable as $$
begin
  case p[1]
  when 1 then return cardinality(c) = 2;
  when 2 then return cardinality(c) = 4;
  when 3 then return cardinality(c) = p[4] + 2;
  when 5 then return cardinality(c) = 2;
  when 6 then return cardinality(c) = 1;
  when 8 then return cardinality(c) >= 10 and ${schema}.limit1_is_usable(p[4:], c[11:]);
  else return true;
  end case;
end
$$;`
}
