import { type FunctionNames, LATE_STATE } from './function-names.ts'

/** The function that ends a late statement. */
export function deadlineFunction({ schema }: FunctionNames): string {
  return `
create or replace function ${schema}.limit1_end_in_time(deadline float8) returns void language plpgsql volatile as $$
begin
  -- the statement may have waited for a row that another client has locked
  if ${schema}.limit1_clock() > deadline then
    raise exception 'the deadline passed while the statement waited' using errcode = '${LATE_STATE}';
  end if;
end
$$;`
}
