with clock as (select coalesce($27::float8, extract(epoch from clock_timestamp()) * 1000)::float8 as now), given as (
  select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::float8[], $6::float8[], $7::float8[], $8::text[], $9::text[])
  with ordinality as g (name, key, version, state, starts, ends, due, token, based_on, at)
), fresh as (
  select g.* from given g, clock where clock.now >= g.starts and clock.now < g.ends
  and (g.version = 1 or exists (
    select 1 from sluice.quota_accounts a where a.name = g.name and a.key = g.key and a.version = g.version - 1
    and encode(sha256(convert_to(a.state, 'UTF8')), 'hex') = g.based_on))
  and (g.token is null or not exists (
    select 1 from sluice.quota_entries e where e.name = g.name and e.key = g.key and e.token = g.token))
), moved as (
  insert into sluice.quota_accounts as a (name, key, version, state, due_at, updated_at)
  select name, key, version, state, to_timestamp(due / 1000), now() from fresh order by name collate "C", key collate "C"
  on conflict (name, key) do update set
    version = excluded.version, state = excluded.state, due_at = excluded.due_at, updated_at = excluded.updated_at
  where a.version = excluded.version - 1
  returning a.name, a.key
), written as (
  select g.at, g.name, g.key from given g join moved m on m.name = g.name and m.key = g.key
), entered as (
  insert into sluice.quota_entries (name, key, kind, token, ref, units, period, at)
  select w.name, w.key, e.kind, e.token, e.ref, e.units, e.period, to_timestamp(clock.now / 1000)
  from unnest($10::int[], $11::text[], $12::text[], $13::text[], $14::bigint[], $15::text[])
    with ordinality as e (at, kind, token, ref, units, period, place)
  join written w on w.at = e.at, clock order by e.place
  on conflict (name, key, token) where token is not null do nothing
), added as (
  insert into sluice.quota_usage as u (name, key, hour, units, stranded, topped_up)
  select w.name, w.key, to_timestamp(l.hour / 1000), l.units, l.stranded, l.topped_up
  from unnest($16::int[], $17::float8[], $18::bigint[], $19::bigint[], $20::bigint[]) as l (at, hour, units, stranded, topped_up)
  join written w on w.at = l.at order by w.name collate "C", w.key collate "C", l.hour
  on conflict (name, key, hour) do update set
    units = u.units + excluded.units, stranded = u.stranded + excluded.stranded, topped_up = u.topped_up + excluded.topped_up
), noticed as (
  insert into sluice.quota_notices (name, key, period, threshold, used, included, id, claimed_at)
  select w.name, w.key, n.period, n.threshold, n.used, n.included, n.id, to_timestamp(clock.now / 1000)
  from unnest($21::int[], $22::text[], $23::int[], $24::bigint[], $25::bigint[], $26::text[])
    as n (at, period, threshold, used, included, id)
  join written w on w.at = n.at, clock
  on conflict (name, key, period, threshold) do nothing
)
select clock.now, array(select at::int from written) as written from clock