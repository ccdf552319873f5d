insert into sluice.counters as c (name, id, value, version, updated_at, reset_at, deleted)
values ($1, $2, 0, 1, now(), clock_timestamp(), true)
on conflict (name, id) do update set
  value = 0, version = c.version + 1, updated_at = now(), reset_at = clock_timestamp(), deleted = c.deleted or $3::boolean
returning id, value, version, extract(epoch from updated_at) * 1000 as "updatedAt"