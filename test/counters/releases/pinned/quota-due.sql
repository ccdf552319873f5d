with clock as (select coalesce($3::float8, extract(epoch from clock_timestamp()) * 1000)::float8 as now)
select a.name, a.key from sluice.quota_accounts a, clock
where a.due_at <= to_timestamp(clock.now / 1000) and a.name = any($1::text[]) order by a.due_at limit $2