import { IDEMPOTENT_MS } from '@sluice/limiter-core/backend'
import { UNUSED } from './algorithm-functions.ts'

/** SQL of the number of numbers of a charge of this kind. */
export function chargeSize(kind: string): string {
  return `(${holdAt(kind)} + 3 * (${kind} / 4))`
}

/** SQL of the offset of the hold in the numbers of a charge, after seven numbers of prior usage if there are any. */
function holdAt(kind: string): string {
  return `(4 + 7 * (${kind} / 2 % 2))`
}

/**
 * The part of the function `limit1_decide` that decides request `r`, whose first charge is at `at`, with the variables of
 * that function. It restores the usage that the caller knows, then checks all charges, then changes their cells. The
 * verdict of an advisory charge that is not taken describes the cells before any change.
 */
export function requestBlock(schema: string): string {
  return `      may_take := op = 0;
      all_fit := true;
      is_usable := true;
      waits := '{}';
      needs := '{}';
      seen_keys := '{}';
      for j in 1 .. charges loop
        k := g[at];
        n_policy := g[at + 1];
        p := policies[n_policy].c;
        kind := g[at + 3];
        if not usable[k] then
          is_usable := false;
          exit;
        end if;
        if op = 2 and ids[r] <> '' then
          -- with the number of earlier charges of the key, because a request may adjust a key several times
          done_names[j] := ' done:' || ids[r] || ':' || cardinality(array_positions(seen_keys, k)) || ':' || keys[k];
          seen_keys := seen_keys || k;
        end if;
        if kind % 4 > 1 then
          is_done := op = 1;
          if op = 2 and ids[r] <> '' then
            perform from ${schema}.limits where name = done_names[j];
            is_done := found;
          end if;
          if not is_done then
            adjusted := ${schema}.limit1_make_good(keys[k], p, cells[k].c, now, lost_before, g[at + 4 : at + 10]);
            if adjusted <> cells[k].c then
              cells[k].c := adjusted;
              dirty[k] := true;
              policy_of[k] := n_policy;
            end if;
          end if;
        end if;
        at := at + ${chargeSize('kind')};
      end loop;
      if not is_usable then
        answers[r] := '!';
        continue;
      end if;

      at := starts[r] + 3;
      for j in 1 .. charges loop
        k := g[at];
        p := policies[g[at + 1]::int].c;
        kind := g[at + 3];
        needs[j] := g[at + 2];
        if kind > 3 and op < 2 then
          place := at + ${holdAt('kind')};
          needs[j] := greatest(0, needs[j] - ${schema}.limit1_still_held(p, cells[k].c, now, g[place + 1], g[place + 2]));
        end if;
        wait_ms := case when op > 1 then 0 else ${schema}.limit1_wait(p, cells[k].c, now, needs[j]) end;
        waits[j] := wait_ms;
        if wait_ms > 0 then
          all_fit := false;
          may_take := may_take and kind % 2 = 1;
        end if;
        at := at + ${chargeSize('kind')};
      end loop;

      -- advisory charges are not taken: read their verdicts before enforced charges of the same keys are taken
      is_partial := may_take and not all_fit;
      if is_partial then
        at := starts[r] + 3;
        for j in 1 .. charges loop
          kind := g[at + 3];
          if kind % 2 = 1 then
            unspent[j] := ${schema}.limit1_verdict(
              policies[g[at + 1]::int].c, cells[g[at]::int].c, now, needs[j], waits[j]);
          end if;
          at := at + ${chargeSize('kind')};
        end loop;
      end if;

      at := starts[r] + 3;
      answer := '';
      for j in 1 .. charges loop
        k := g[at];
        n_policy := g[at + 1];
        p := policies[n_policy].c;
        cost := g[at + 2];
        kind := g[at + 3];
        place := at + ${holdAt('kind')};
        is_changed := false;
        if op = 2 then
          moved := 0;
          if cost <> 0 or kind > 3 then
            is_done := false;
            if ids[r] <> '' then
              select d.cells[1] into moved from ${schema}.limits d where d.name = done_names[j];
              is_done := found;
            end if;
            if not is_done then
              taken_at := g[starts[r] + 1];
              released := 0;
              if kind > 3 then
                taken_at := now;
                released := ${schema}.limit1_still_held(p, cells[k].c, now, g[place + 1], g[place + 2]);
                cells[k].c := ${schema}.limit1_release(p, cells[k].c, now, g[place + 1], g[place + 2]);
              end if;
              adjusted := ${schema}.limit1_adjust(p, cells[k].c, now, cost, taken_at);
              moved := adjusted[1];
              if moved < released then
                perform ${schema}.limit1_mark_refund(keys[k], now, clock + ceil(${schema}.limit1_kept(p, cells[k].c, now)));
              end if;
              is_changed := moved <> 0 or adjusted[2] <> 0 or released > 0;
              if is_changed then cells[k].c := adjusted[3 :]; end if;
              if ids[r] <> '' and (is_changed or kind % 4 > 1) then
                insert into ${schema}.limits as l (name, cells, kept_until)
                  values (done_names[j], array[moved], clock + ${2 * IDEMPOTENT_MS})
                  on conflict (name) do update set cells = excluded.cells, kept_until = excluded.kept_until;
              end if;
            end if;
          end if;
          answer := answer || moved || ' ';
        elsif op = 3 then
          insert into ${schema}.limits as l (name, cells, kept_until)
            values (' mark:' || keys[k], array[now, 0], clock + cost)
            on conflict (name) do update set cells = excluded.cells, kept_until = excluded.kept_until;
          cells[k].c := ${UNUSED};
          is_changed := true;
        elsif may_take and cost > 0 and (all_fit or kind % 2 = 0) then
          if kind > 3 then
            cells[k].c := ${schema}.limit1_release(p, cells[k].c, now, g[place + 1], g[place + 2]);
            cells[k].c := ${schema}.limit1_hold(p, cells[k].c, now, cost, g[place]);
          else cells[k].c := ${schema}.limit1_spend(p, cells[k].c, now, cost);
          end if;
          is_changed := true;
        end if;
        if is_changed then
          dirty[k] := true;
          policy_of[k] := n_policy;
        end if;
        if is_partial and kind % 2 = 1 then answer := answer || unspent[j];
        else answer := answer || ${schema}.limit1_verdict(p, cells[k].c, now, needs[j], waits[j]);
        end if;
        if j < charges then answer := answer || ' '; end if;
        at := at + ${chargeSize('kind')};
      end loop;
      answers[r] := answer;
`
}
