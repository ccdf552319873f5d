with clock as (select coalesce($3::float8, extract(epoch from clock_timestamp()) * 1000)::float8 as now)
select clock.now, a.name, a.key, a.version, a.state from clock
left join (sluice.quota_accounts a join unnest($1::text[], $2::text[]) as given (name, key)
  on a.name = given.name and a.key = given.key) on true