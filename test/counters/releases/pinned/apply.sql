with moved as (
  insert into sluice.counter_writers as w (name, writer, number, moved_at) values ($1, $2, $3, now())
  on conflict (name, writer) do update set number = excluded.number, moved_at = now() where w.number < excluded.number
  returning 1
), used as (
  insert into sluice.counter_tokens as t (name, token, body, writer, number, used_at)
  select $1, given.token, given.body, $2, $3, now() from unnest($8::text[], $9::text[]) as given (token, body)
  where exists (select 1 from moved) order by given.token
  on conflict (name, token) do update
  set body = excluded.body, writer = excluded.writer, number = excluded.number, used_at = excluded.used_at
  where t.used_at < now() - interval '86400000 ms'
  returning token
), folded as (
  select given.id, sum(given.amount)::bigint as amount, clock_timestamp() - max(given.age) * interval '1 ms' as since
  from unnest($4::text[], $5::bigint[], $6::float8[], $7::text[]) as given (id, amount, age, token)
  where exists (select 1 from moved) and (given.token = '' or given.token in (select token from used))
  group by given.id
), counted as (
  insert into sluice.counters as c (name, id, value, version, updated_at, reset_at, deleted)
  select $1, id, amount, 1, since, '-infinity', false from folded order by id collate "C"
  on conflict (name, id) do update set
    value = c.value + excluded.value,
    version = c.version + 1,
    updated_at = greatest(c.updated_at, excluded.updated_at),
    deleted = false
  where excluded.updated_at >= c.reset_at
  returning id, value, version, extract(epoch from updated_at) * 1000 as "updatedAt"
)
select 'moved' as kind, null as id, null::bigint as value, null::bigint as version, null::numeric as "updatedAt" from moved
union all select 'used', token, null, null, null from used
union all select 'counted', id, value, version, "updatedAt" from counted