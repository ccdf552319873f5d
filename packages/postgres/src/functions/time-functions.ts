import type { FunctionNames } from './function-names.ts'

/** The function that returns the time of the server in ms. */
export function timeFunctions({ schema }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_clock() returns float8 language sql volatile as $$
  select date_part('epoch', clock_timestamp()) * 1000
$$;`
}
