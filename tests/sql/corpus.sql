-- name: select/star
select * from sales

-- name: select/cols
select id, region, price from sales

-- name: select/case-insens
SELECT ID, Region, PRICE FROM Sales

-- name: select/qualified
select s.id, s.region from sales s where s.units > 3

-- name: select/expr-unnamed
select price * units from sales

-- name: select/expr-alias
select price * units as revenue from sales

-- name: select/alias-noas
select price*units revenue from sales

-- name: select/two-same-names
select min(price), max(price) from sales

-- name: select/dup-cols
select id, id from sales

-- name: select/literal
select 1

-- name: select/literals
select 1 as a, 'x' as b, null as c, true as d, 1.5 as e

-- name: select/arith-literal
select 1 + 1 * 2 as x

-- name: select/sci-literal
select 1e3 as x, 1.5e-2 as y

-- name: select/neg-exp
select id, -price as np, -(units) as nu from sales

-- name: select/exclude
select * exclude (price, units) from sales

-- name: select/exclude1
select * exclude price from sales

-- name: select/replace
select * replace (price * 2 as price) from sales

-- name: select/rename
select * rename (price as cost) from sales

-- name: select/star-plus
select *, price * units as revenue from sales

-- name: select/star-plus-order
select *, price * units as revenue from sales order by revenue desc nulls last, id limit 10

-- name: select/qualified-star
select s.* from sales s

-- name: select/where-alias
select price*units as rev from sales where rev > 100

-- name: select/lateral-alias
select price*units as rev, rev*2 as rev2 from sales

-- name: select/trailing-comma
select id, region, from sales

-- name: select/comment
select id -- the id
 from sales /* all of it */ where id < 5

-- name: select/semicolon
select count(*) as n from sales;

-- name: select/from-first
from sales select region, price where price > 50

-- name: select/from-only
from sales

-- name: select/quoted-table
select "id" from "sales"

-- name: select/schema-table
select id from main.sales where id < 4

-- name: select/columns-regex
select columns('^u') from sales

-- name: odd/order
select "Order", "group" from odd

-- name: odd/spaces
select sum("Total Sales") as total from odd

-- name: odd/groupcol
select "group", sum("Total Sales") as t from odd group by "group" order by t desc

-- name: odd/select
select "select", count(*) as n from odd group by "select" order by n desc, "select"

-- name: odd/camel-lower
select camelcase, count(*) as n from odd group by camelcase order by camelcase

-- name: odd/year
select year, sum("Total Sales") from odd group by year order by year

-- name: odd/a-b
select "a-b" + 1 as v, "value%" from odd

-- name: odd/quoted-insens
select "total sales" from odd

-- name: odd/alias-quoted
select sum("Total Sales") as "Grand Total" from odd

-- name: odd/orderby-quoted
select "Order" from odd order by "Total Sales" desc limit 3

-- name: where/eq
select id from sales where region = 'North'

-- name: where/case-str
select id from sales where product = 'widget'

-- name: where/and-or
select id from sales where (region = 'North' or region = 'South') and price > 20

-- name: where/not
select id from sales where not (region = 'North')

-- name: where/not-null-3vl
select id from sales where not (price > 50 and units > 3)

-- name: where/neq
select id from sales where region <> 'North'

-- name: where/neq2
select id from sales where region != 'North'

-- name: where/between
select id from sales where price between 10 and 20

-- name: where/not-between
select id from sales where price not between 10 and 20

-- name: where/in
select id from sales where region in ('North', 'East')

-- name: where/not-in
select id from sales where region not in ('North', 'East')

-- name: where/in-null
select id from sales where region in ('North', null)

-- name: where/not-in-null
select id from sales where region not in ('North', null)

-- name: where/in-int
select id from sales where units in (1, 2, 3)

-- name: where/in-mixed
select id from sales where units in (1, 2.5, 3)

-- name: where/in-float-col-int
select id from sales where price in (10, 2.5)

-- name: where/in-expr
select id from sales where units in (id, id - 1, 3)

-- name: where/in-strnum
select id from sales where units in ('1', '2')

-- name: where/is-null
select id from sales where region is null

-- name: where/is-not-null
select id from sales where region is not null

-- name: where/bool
select id from sales where is_online

-- name: where/not-bool
select id from sales where not is_online

-- name: where/bool-eq
select id from sales where is_online = true

-- name: where/is-true
select id from sales where is_online is true

-- name: where/is-not-true
select id from sales where is_online is not true

-- name: where/is-false
select id from sales where is_online is false

-- name: where/is-not-false
select id from sales where is_online is not false

-- name: where/1=1
select id from sales where 1=1 and price > 50

-- name: where/1=1only
select count(*) as n from sales where 1=1

-- name: where/1=0
select count(*) as n from sales where 1=0

-- name: where/null=null
select count(*) as n from sales where null = null

-- name: where/str-num-cmp
select id from sales where units = '3'

-- name: where/num-str-gt
select id from sales where price > '50'

-- name: where/date-cmp
select id from sales where order_date >= '2024-01-01'

-- name: where/date-cmp-rev
select id from sales where '2024-01-01' <= order_date

-- name: where/date-between
select id from sales where order_date between '2023-06-01' and '2023-08-31'

-- name: where/date-lit
select id from sales where order_date >= date '2024-06-01'

-- name: where/date-in
select id from sales where order_date in ('2023-06-01', '2024-02-29')

-- name: where/date-short
select id from sales where order_date >= '2024-1-1'

-- name: where/ts-cmp-str
select event_id from events where ts >= '2024-03-01'

-- name: where/ts-cmp-full
select event_id from events where ts < '2024-03-05 12:00:00'

-- name: where/ts-between-dates
select event_id from events where ts between '2024-03-01' and '2024-03-10'

-- name: where/ts-lit
select event_id from events where ts >= timestamp '2024-03-10 00:00:00'

-- name: where/ts-date-cast
select event_id from events where ts::date = '2024-03-10'

-- name: where/ts-cmp-date
select event_id from events where ts > date '2024-03-10'

-- name: where/ts-cast-date-fn
select event_id from events where cast(ts as date) between date '2024-03-01' and date '2024-03-05'

-- name: where/time-cmp
select event_id from events where tod > '12:00:00'

-- name: where/func-date-cmp-str
select id from sales where date_trunc('month', order_date) = '2024-03-01'

-- name: where/coalesce-date-str
select id from sales where coalesce(order_date, date '2000-01-01') < '2023-03-01'

-- name: where/expr-col
select id from sales where price * units > 200

-- name: where/float-eq
select id from sales where price = 2.5

-- name: where/tuple
select id from sales where (region, product) = ('North', 'Widget')

-- name: where/tuple-in
select id from sales where (region, product) in (('North','Widget'),('East','Gizmo'))

-- name: where/is-distinct
select id from sales where region is distinct from 'North'

-- name: where/is-not-distinct
select id from sales where units is not distinct from null

-- name: where/xor-case
select id from sales where case when price > 50 then true else false end

-- name: where/int-as-bool
select id from sales where units

-- name: group/count
select region, count(*) as n from sales group by region

-- name: group/count-unnamed
select region, count(*) from sales group by region

-- name: group/sum
select region, sum(price) as s from sales group by region

-- name: group/sum-names
select region, sum(price), avg(price) from sales group by region

-- name: group/multi
select region, product, sum(units) as u from sales group by region, product

-- name: group/ordinal
select region, sum(units) from sales group by 1 order by 2 desc

-- name: group/ordinal-order-1
select region, sum(units) as u from sales group by 1 order by 1

-- name: group/alias
select upper(product) as p, count(*) as n from sales group by p

-- name: group/expr
select upper(product) as p, count(*) as n from sales group by upper(product)

-- name: group/expr-not-selected
select count(*) as n from sales group by upper(product)

-- name: group/key-not-selected
select sum(units) as u from sales group by region

-- name: group/expr-on-key
select upper(region) as r, sum(units) as u from sales group by region

-- name: group/agg-expr
select region, sum(price * units) as rev from sales group by region

-- name: group/ratio
select region, sum(price) / sum(units) as r from sales group by region

-- name: group/ratio-count
select region, sum(price) / count(*) as r from sales group by region

-- name: group/pct
select region, 100.0 * count(*) / (select count(*) from sales) as pct from sales group by region

-- name: group/round-avg
select region, round(avg(price), 2) as a from sales group by region order by a desc

-- name: group/having
select region, count(*) as n from sales group by region having count(*) > 40

-- name: group/having-alias
select region, count(*) as n from sales group by region having n > 40

-- name: group/having-sum
select region from sales group by region having sum(price) > 1500

-- name: group/having-multi
select region, avg(price) a from sales group by region having avg(price) > 30 and count(*) > 10

-- name: group/having-key
select region, count(*) n from sales group by region having region is not null

-- name: group/having-nogroup
select count(*) as n from sales having count(*) > 10

-- name: group/having-nogroup-false
select count(*) as n from sales having count(*) > 1000000

-- name: group/having-shadow
select region, sum(price) as price from sales group by region having sum(price) > 1500

-- name: group/order-agg
select region, count(*) as n from sales group by region order by count(*) desc, region

-- name: group/order-sum-unsel
select region from sales group by region order by sum(units) desc

-- name: group/order-agg-limit
select product, sum(price) as s from sales group by product order by sum(price) desc limit 2

-- name: group/order-agg-shadow
select region, sum(units) as units from sales group by region order by sum(units) desc

-- name: group/order-count-unnamed
select product, count(*) from sales group by product order by count(*) desc

-- name: group/order-expr-agg
select region, sum(price) as s, sum(units) as u from sales group by region order by sum(price) / sum(units)

-- name: group/order-key-fn
select region, count(*) n from sales group by region order by lower(region) desc

-- name: group/all
select region, product, sum(units) as u from sales group by all

-- name: group/all-expr
select upper(region) as r, sum(units) + 1 as u from sales group by all order by all

-- name: group/year
select year(order_date) as y, count(*) as n from sales group by year(order_date) order by y

-- name: group/extract
select extract(year from order_date) as y, extract(month from order_date) as m, sum(price) as s from sales group by 1, 2 order by 1, 2

-- name: group/trunc
select date_trunc('month', order_date) as m, sum(price) as s from sales group by 1 order by 1

-- name: group/strftime
select strftime(order_date, '%Y-%m') as m, count(*) as n from sales group by m order by m

-- name: group/case
select case when price < 10 then 'low' when price < 50 then 'mid' else 'high' end as band, count(*) as n from sales group by band order by n desc, band

-- name: group/case2
select case when price < 10 then 'low' when price < 50 then 'mid' else 'high' end as band, count(*) as n from sales group by 1 order by 1

-- name: group/case-full
select case when price > 50 then 'hi' else 'lo' end as b, avg(units) as u from sales group by case when price > 50 then 'hi' else 'lo' end

-- name: group/alias-shadow
select substr(region, 1, 1) as region, count(*) as n from sales group by region

-- name: group/alias-shadow-fn
select lower(product) as product, sum(units) as u from sales group by lower(product) order by u desc

-- name: group/null-key
select region, count(*) as n, count(region) as c from sales group by region

-- name: group/two-level
select avg(n) as a from (select region, count(*) as n from sales group by region) t

-- name: group/distinct-in-agg
select region, count(distinct product) as p from sales group by region

-- name: group/nulls-count
select count(*) as a, count(price) as b, count(units) as c, count(distinct region) as d from sales

-- name: group/filter
select region, count(*) filter (where price > 50) as hi, sum(units) filter (where price > 50) as u from sales group by region

-- name: group/filter-null
select count(*) filter (where is_online) as on_n, count(*) filter (where not is_online) as off_n from sales

-- name: group/filter-none
select region, sum(price) filter (where price > 1000) as s, count(*) filter (where price > 1000) as c, avg(price) filter (where price > 1000) as a from sales group by region

-- name: group/sumcase
select region, sum(case when is_online then 1 else 0 end) as n from sales group by region

-- name: group/sumcase-null
select region, sum(case when price > 1000 then 1 end) as n from sales group by region

-- name: group/countcase
select count(case when price > 50 then 1 end) as n from sales

-- name: group/pivot
select product, sum(case when region = 'North' then price else 0 end) as north, sum(case when region='South' then price else 0 end) as south from sales group by product order by product

-- name: group/rollup
select region, product, sum(units) as u from sales group by rollup (region, product)

-- name: group/rollup-nonull
select coalesce(region, 'all') as r, count(*) as n from sales where region is not null group by rollup(region) order by n, r

-- name: group/cube
select region, product, count(*) as n from sales group by cube (region, product)

-- name: group/gsets
select region, product, count(*) as n from sales group by grouping sets ((region), (product), ())

-- name: group/const
select 'x' as k, region, count(*) as n from sales group by region

-- name: group/const-agg
select 'all' as label, sum(price) as s from sales

-- name: group/agg-plus-lit
select sum(units) + 5 as a, count(*) * 2 as b from sales

-- name: group/empty-table
select sum(x) as s, count(*) as n, avg(y) as a, min(x) as mi, max(s) as ma, count(distinct x) as d from empty

-- name: group/empty-grouped
select x, sum(y) as s from empty group by x

-- name: group/where-none
select sum(price) as s, count(*) as n, avg(price) as a, min(region) as m from sales where id > 100000

-- name: group/agg-nested-fn
select region, coalesce(sum(units), 0) as u from sales group by region

-- name: group/agg-of-agg-diff
select region, max(price) - min(price) as rng from sales group by region

-- name: group/count-minus
select region, count(*) - 100 as d from sales group by region

-- name: group/count-minus-count
select count(price) - count(*) as d from sales

-- name: group/multi-same
select region, min(price), max(price), avg(price), sum(price) from sales group by region

-- name: group/groupby-having-notsel
select product from sales group by product having count(distinct region) >= 4

-- name: group/orderby-alias-desc-limit
select product, sum(price*units) as revenue from sales group by product order by revenue desc limit 3

-- name: group/any-value
select region, any_value(region) as r from sales group by region

-- name: group/qualified
select s.region, count(*) as n from sales s group by s.region order by s.region

-- name: group/qualified2
select s.region, count(*) as n from sales as s group by region having s.region = 'North'

-- name: group/by-date-part-alias-same
select order_date, count(*) as n from sales group by order_date having count(*) > 1 order by order_date

-- name: group/month-shadow
select date_trunc('month', order_date) as order_date, count(*) as n from sales group by date_trunc('month', order_date) order by 1

-- name: group/where-group-order
select product, round(sum(price * units * (1 - coalesce(discount, 0))), 2) as net from sales where order_date >= '2023-06-01' and region is not null group by product having sum(units) > 0 order by net desc

-- name: agg/filter-bare
select count(*) filter (discount is null) as n, sum(units) filter (price > 10 and units < 5) as u from sales

-- name: agg/int-avg
select avg(units) as a from sales

-- name: agg/sum-int
select sum(units) as s from sales

-- name: agg/sum-bool
select sum(is_online::int) as s, avg(is_online::int) as a from sales

-- name: agg/sum-bool-direct
select sum(is_online) as s from sales

-- name: agg/sum-cmp
select sum(price > 50) as s from sales

-- name: agg/count-if
select count_if(price > 50) as n, countif(is_online) as m from sales

-- name: agg/distinct-null
select count(distinct units) as d, count(distinct is_online) as e from sales

-- name: agg/count-distinct-multi
select count(distinct (region, product)) as n from sales

-- name: agg/sum-distinct
select sum(distinct units) as s, avg(distinct units) as a from sales

-- name: agg/min-str
select min(region) as a, max(product) as b from sales

-- name: agg/min-date
select min(order_date) as a, max(order_date) as b from sales

-- name: agg/date-range
select max(order_date) - min(order_date) as days from sales

-- name: agg/median
select median(price) as m, median(units) as u from sales

-- name: agg/median-group
select region, median(units) as u from sales group by region

-- name: agg/quantile
select quantile_cont(price, 0.9) as q, quantile_cont(price, 0.25) as r from sales

-- name: agg/quantile-disc
select quantile_disc(units, 0.5) as q, quantile_disc(price, 0.9) as p from sales

-- name: agg/quantile-2
select quantile(price, 0.5) as q from sales

-- name: agg/percentile-within
select percentile_cont(0.5) within group (order by price) as m from sales

-- name: agg/percentile-within-g
select region, percentile_cont(0.9) within group (order by price) as p from sales group by region

-- name: agg/percentile-disc
select percentile_disc(0.5) within group (order by units) as m from sales

-- name: agg/mode
select mode(product) as m from sales where product in ('Gizmo','Widget') and id < 10

-- name: agg/stddev
select stddev(price) as a, stddev_samp(price) as b, variance(price) as c, var_samp(price) as d from sales

-- name: agg/stddev-pop
select stddev_pop(price) as a, var_pop(price) as b from sales

-- name: agg/stddev-one
select id, stddev(price) as s, var_samp(price) as v from sales group by id

-- name: agg/corr
select corr(price, units) as c, covar_samp(price, units) as d, covar_pop(price, units) as e from sales

-- name: agg/regr
select regr_slope(price, units) as s, regr_intercept(price, units) as i from sales

-- name: agg/string-agg
select string_agg(name, ', ') as s from products

-- name: agg/string-agg-order
select region, string_agg(product, ',' order by product) as s from sales where id < 30 group by region

-- name: agg/string-agg-desc
select string_agg(name, '; ' order by price desc) as s from products

-- name: agg/string-agg-distinct
select string_agg(distinct product, ',' order by product) as s from sales

-- name: agg/group-concat
select group_concat(name) as s from products

-- name: agg/listagg
select listagg(name, '|') within group (order by name) as s from products

-- name: agg/array-agg
select region, array_agg(id order by id) as ids from sales where id < 20 group by region

-- name: agg/list
select list(name order by name) as l from products

-- name: agg/bool-and
select bool_and(is_online) as a, bool_or(is_online) as b, every(is_online) as c from sales

-- name: agg/arg-max
select arg_max(product, price) as p, arg_min(product, price) as q from sales

-- name: agg/max-by
select max_by(product, price) as p from sales

-- name: agg/first
select first(id) as f, last(id) as l from products_missing

-- name: agg/product
select product(units) as p from sales where units > 0 and id < 10

-- name: agg/kurt
select skewness(price) as s, kurtosis(price) as k from sales

-- name: agg/approx
select approx_count_distinct(region) as n from sales

-- name: agg/sum-overflow
select sum(big) as s from nums

-- name: agg/avg-big
select avg(big) as a from nums

-- name: agg/geomean
select exp(avg(ln(price))) as g from sales where price > 0

-- name: agg/weighted
select sum(price * units) / nullif(sum(units), 0) as w from sales

-- name: agg/distinct-count-expr
select count(distinct date_trunc('month', order_date)) as m from sales

-- name: agg/count-1
select count(1) as n, count() as m from sales

-- name: agg/min-max-mixed
select max(price) as mx, (select count(*) from sales) as n from sales

-- name: agg/max-expr-where
select id, price from sales where price = (select max(price) from sales)

-- name: agg/minmax-bool
select min(is_online) a, max(is_online) b from sales

-- name: agg/avg-round-cast
select avg(price)::int as a, cast(avg(units) as decimal(10,2)) as b from sales

-- name: agg/all-null
select sum(bonus) as s, avg(bonus) as a, min(bonus) as m, count(bonus) as c, stddev(bonus) as sd from employees where bonus is null

-- name: agg/all-null-median
select median(bonus) as m, string_agg(dept, ',') as s from employees where bonus is null and dept is null

-- name: agg/histogram-like
select floor(price / 10) * 10 as bucket, count(*) as n from sales group by bucket order by bucket

-- name: agg/summ-filter-distinct
select count(distinct product) filter (where price > 50) as n from sales

-- name: agg/avg-filter
select avg(price) filter (where units > 3) as a from sales

-- name: agg/max-filter
select max(price) filter (where region = 'North') as a, min(units) filter (where region = 'North') b from sales

-- name: agg/date-avg
select min(ts) a, max(ts) b from events

-- name: order/asc-nulls
select id, price from sales order by price, id

-- name: order/desc-nulls
select id, price from sales order by price desc, id

-- name: order/nulls-first
select id, price from sales order by price nulls first, id

-- name: order/nulls-last
select id, price from sales order by price desc nulls last, id

-- name: order/desc-limit
select id, price from sales order by price desc, id limit 5

-- name: order/expr
select id from sales order by price * units desc, id limit 10

-- name: order/unselected
select id from sales order by order_date desc nulls last, id limit 10

-- name: order/ordinal
select region, id from sales order by 1, 2

-- name: order/ordinal-desc
select id, units from sales order by 2 desc, 1

-- name: order/alias
select id, price * 2 as dbl from sales order by dbl, id

-- name: order/alias-shadow
select id, -price as price from sales order by price, id

-- name: order/case
select id, region from sales order by case region when 'North' then 1 when 'South' then 2 else 3 end, id

-- name: order/string
select s from texts order by s

-- name: order/string-upper
select s from texts order by lower(s), tid

-- name: order/all
select region, product from sales order by all

-- name: order/limit-offset
select id from sales order by id limit 10 offset 5

-- name: order/offset-only
select id from sales order by id offset 195

-- name: order/fetch
select id from sales order by id fetch first 5 rows only

-- name: order/limit-0
select id from sales limit 0

-- name: order/limit-big
select id from sales limit 100000

-- name: order/limit-expr
select id from sales order by id limit 2 + 3

-- name: order/limit-pct
select id from sales order by id limit 10%

-- name: order/top
select top 5 id from sales order by id

-- name: order/distinct
select distinct region from sales order by region

-- name: order/distinct-desc
select distinct region from sales order by region desc

-- name: order/distinct-multi
select distinct region, product from sales order by region, product desc

-- name: order/bool
select id, is_online from sales order by is_online, id

-- name: order/date-desc
select id, order_date from sales order by order_date desc, id

-- name: order/qualified
select s.id from sales s order by s.price desc nulls last, s.id limit 5

-- name: order/random-col
select id from sales order by abs(price - 50), id limit 5

-- name: order/alias-expr
select id, price as p from sales order by p * -1, id limit 7

-- name: order/agg-plain
select sum(price) as s from sales order by s

-- name: order/agg-plain2
select count(*) as n, avg(price) a from sales order by n

-- name: distinct/plain
select distinct region from sales

-- name: distinct/multi
select distinct region, is_online from sales

-- name: distinct/star
select distinct * from sales

-- name: distinct/expr
select distinct lower(product) as p from sales

-- name: distinct/count-sub
select count(*) as n from (select distinct region, product from sales) t

-- name: distinct/on
select distinct on (region) region, id, price from sales order by region, price desc nulls last, id

-- name: distinct/on-2
select distinct on (customer_id) customer_id, order_id from orders order by customer_id, order_date desc, order_id

-- name: distinct/on-unselected
select distinct on (region) id from sales order by region, id

-- name: distinct/on-expr
select distinct on (lower(product)) product, id from sales order by lower(product), id

-- name: distinct/limit
select distinct product from sales order by product limit 3

-- name: win/row-number
select id, row_number() over (order by id) as rn from sales where id > 5

-- name: win/row-number-part
select id, region, row_number() over (partition by region order by id) as rn from sales where id > 5

-- name: win/row-number-desc
select order_id, row_number() over (partition by customer_id order by amount desc, order_id) as rn from orders

-- name: win/rn-desc-single
select order_id, row_number() over (partition by customer_id order by order_id desc) as rn from orders

-- name: win/rn-nulls
select emp_id, row_number() over (order by salary, emp_id) as rn from employees

-- name: win/rn-nulls-desc
select emp_id, row_number() over (order by salary desc, emp_id desc) as rn from employees

-- name: win/rn-noorder
select count(*) as n from (select row_number() over () as rn from sales) t where rn <= 10

-- name: win/rn-minus
select id, id - row_number() over (order by id) as grp from orders_x

-- name: win/rn-minus2
select order_id, row_number() over (order by order_id) - 10 as d from orders

-- name: win/rank
select emp_id, salary, rank() over (order by salary desc) as r from employees where salary is not null

-- name: win/rank-null
select emp_id, salary, rank() over (order by salary desc) as r from employees

-- name: win/rank-asc-null
select emp_id, salary, rank() over (order by salary) as r from employees

-- name: win/dense-rank
select emp_id, dense_rank() over (partition by dept order by salary desc) as r from employees

-- name: win/rank-multi
select emp_id, rank() over (order by dept, salary) as r from employees where dept is not null and salary is not null

-- name: win/rank-mixed
select emp_id, rank() over (order by dept asc, salary desc) as r from employees

-- name: win/rank-topn
select * from (select name, dept, salary, rank() over (partition by dept order by salary desc) as rk from employees where salary is not null) t where rk <= 2

-- name: win/rank-group
select product, sum(price) as s, rank() over (order by sum(price) desc) as r from sales group by product

-- name: win/ntile
select id, ntile(4) over (order by id) as q from products_x

-- name: win/ntile2
select product_id, ntile(4) over (order by price) as q from products

-- name: win/percent-rank
select product_id, percent_rank() over (order by price) as p from products

-- name: win/cume-dist
select product_id, cume_dist() over (order by price) as p from products

-- name: win/lag
select order_id, lag(amount) over (order by order_id) as prev from orders

-- name: win/lag-part
select order_id, lag(amount) over (partition by customer_id order by order_date, order_id) as prev from orders

-- name: win/lag-default
select order_id, lag(amount, 1, 0) over (order by order_id) as prev from orders

-- name: win/lag-2
select order_id, lag(amount, 2) over (order by order_id) as prev from orders

-- name: win/lead
select order_id, lead(order_date) over (partition by customer_id order by order_date, order_id) as nxt from orders

-- name: win/lead-desc
select order_id, lead(amount) over (order by order_id desc) as nxt from orders

-- name: win/diff
select order_id, amount - lag(amount) over (order by order_id) as d from orders

-- name: win/growth
with m as (select extract(month from order_date) as mth, sum(amount) as s from orders group by 1) select mth, s, lag(s) over (order by mth) as prev, (s - lag(s) over (order by mth)) / lag(s) over (order by mth) * 100 as g from m order by mth

-- name: win/first-value
select order_id, first_value(amount) over (partition by customer_id order by order_id) as f from orders

-- name: win/first-value-desc
select emp_id, first_value(name) over (partition by dept order by salary desc, emp_id) as f from employees

-- name: win/last-value
select order_id, last_value(amount) over (partition by customer_id order by order_id) as l from orders

-- name: win/last-value-frame
select order_id, last_value(amount) over (partition by customer_id order by order_id rows between unbounded preceding and unbounded following) as l from orders

-- name: win/nth-value
select order_id, nth_value(amount, 2) over (partition by customer_id order by order_id) as l from orders

-- name: win/running
select order_id, sum(amount) over (order by order_id) as rs from orders

-- name: win/running-part
select order_id, sum(amount) over (partition by customer_id order by order_id) as rs from orders

-- name: win/running-ties
select order_id, sum(amount) over (order by order_date) as rs from orders

-- name: win/running-ties-status
select order_id, sum(quantity) over (order by status) as rs from orders

-- name: win/running-rows
select order_id, sum(amount) over (order by order_id rows between unbounded preceding and current row) as rs from orders

-- name: win/running-rows2
select order_id, sum(amount) over (order by order_id rows unbounded preceding) as rs from orders

-- name: win/running-nulls
select id, sum(price) over (order by id) as s from sales where id between 10 and 60

-- name: win/running-avg
select order_id, avg(amount) over (order by order_id) as ra from orders

-- name: win/running-avg-rows
select order_id, avg(amount) over (order by order_id rows between unbounded preceding and current row) as ra from orders

-- name: win/running-count
select order_id, count(*) over (order by order_id) as c from orders

-- name: win/running-count-ties
select order_id, count(*) over (order by status) as c from orders

-- name: win/running-countcol
select order_id, count(customer_id) over (order by order_id) as c from orders

-- name: win/running-min
select order_id, min(amount) over (order by order_id) as m, max(amount) over (order by order_id) as x from orders

-- name: win/running-max-ties
select order_id, max(amount) over (order by order_date) as x from orders

-- name: win/running-desc
select order_id, sum(amount) over (order by order_id desc) as rs from orders

-- name: win/moving
select order_id, avg(amount) over (order by order_id rows between 2 preceding and current row) as ma from orders

-- name: win/moving-sum
select order_id, sum(amount) over (order by order_id rows between 6 preceding and current row) as ms from orders

-- name: win/moving-center
select order_id, avg(amount) over (order by order_id rows between 1 preceding and 1 following) as ma from orders

-- name: win/rows-uf
select order_id, sum(amount) over (order by order_id rows between current row and unbounded following) as s from orders

-- name: win/range-frame
select order_id, sum(amount) over (order by order_date range between interval 7 days preceding and current row) as s from orders

-- name: win/range-unb
select order_id, sum(amount) over (order by order_date range between unbounded preceding and current row) as s from orders

-- name: win/full-frame
select order_id, sum(amount) over (order by order_date rows between unbounded preceding and unbounded following) as s from orders

-- name: win/total
select order_id, amount / sum(amount) over () as share from orders

-- name: win/total-part
select order_id, amount / sum(amount) over (partition by customer_id) as share from orders

-- name: win/part-avg
select emp_id, salary - avg(salary) over (partition by dept) as d from employees

-- name: win/part-nullkey
select emp_id, count(*) over (partition by dept) as c, sum(salary) over (partition by dept) as s from employees

-- name: win/only-total
select sum(amount) over () as t from orders

-- name: win/only-count
select count(*) over () as t from orders where quantity > 5

-- name: win/count-over
select order_id, count(*) over () as n from orders

-- name: win/share-group
select product, sum(price) as s, sum(price) / sum(sum(price)) over () as share from sales group by product

-- name: win/share-group2
select region, product, sum(units) as u, sum(sum(units)) over (partition by region) as t from sales group by region, product

-- name: win/running-group
select order_date, sum(amount) as s, sum(sum(amount)) over (order by order_date) as rs from orders group by order_date order by order_date

-- name: win/pct-100
select status, count(*) as n, round(100.0 * count(*) / sum(count(*)) over (), 1) as pct from orders group by status order by status

-- name: win/named
select order_id, sum(amount) over w as s, row_number() over w as rn from orders window w as (order by order_id)

-- name: win/named-part
select order_id, rank() over w as r, avg(amount) over w as a from orders window w as (partition by customer_id order by order_id)

-- name: win/qualify
select order_id, customer_id, amount from orders qualify row_number() over (partition by customer_id order by amount desc) = 1

-- name: win/qualify-alias
select order_id, row_number() over (partition by status order by order_id) as rn from orders qualify rn <= 2

-- name: win/qualify-notsel
select name from employees qualify rank() over (partition by dept order by salary desc) = 1

-- name: win/max-part-filter
select * from (select *, max(amount) over (partition by customer_id) as mx from orders) t where amount = mx

-- name: win/in-case
select order_id, case when amount > avg(amount) over () then 'above' else 'below' end as c from orders

-- name: win/two-windows
select order_id, rank() over (order by amount) - rank() over (order by quantity) as d from orders

-- name: win/median-part
select emp_id, median(salary) over (partition by dept) as m from employees

-- name: win/quantile-part
select emp_id, quantile_cont(salary, 0.5) over (partition by dept) as m from employees

-- name: win/stddev-part
select emp_id, stddev(salary) over (partition by dept) as m from employees

-- name: win/corr-part
select emp_id, corr(salary, bonus) over (partition by dept) as m from employees

-- name: win/string-agg-part
select emp_id, string_agg(name, ',') over (partition by dept) as m from employees where dept = 'Eng'

-- name: win/distinct-count-part
select emp_id, count(distinct salary) over (partition by dept) as c from employees

-- name: win/filter-over
select order_id, sum(amount) filter (where status = 'shipped') over (partition by customer_id) as s from orders

-- name: win/order-by-window
select order_id from orders order by row_number() over (order by amount desc) limit 5

-- name: win/expr-order
select emp_id, row_number() over (order by coalesce(salary, 0), emp_id) as rn from employees

-- name: win/nulls-last-explicit
select emp_id, row_number() over (order by salary desc nulls last, emp_id) as rn from employees

-- name: win/nulls-first-explicit
select emp_id, row_number() over (order by salary nulls first, emp_id) as rn from employees

-- name: win/lag-nulls-order
select emp_id, lag(emp_id) over (order by salary, emp_id) as p from employees

-- name: win/lag-ignore
select id, lag(price ignore nulls) over (order by id) as p from sales where id > 5

-- name: win/last-ignore
select id, last_value(price ignore nulls) over (order by id) as p from sales where id > 5

-- name: win/coalesce-over
select order_id, coalesce(lag(amount) over (order by order_id), 0) as p from orders

-- name: win/sum-neg-desc-ties
select emp_id, sum(salary) over (order by salary desc) as s from employees

-- name: win/avg-int-part
select emp_id, avg(emp_id) over (partition by dept) a from employees

-- name: win/expr-part
select emp_id, count(*) over (partition by upper(dept)) as c from employees

-- name: win/groupby-rank-top
select * from (select region, product, sum(units) u, row_number() over (partition by region order by sum(units) desc, product) rn from sales group by region, product) where rn = 1

-- name: cte/simple
with t as (select * from sales where price > 50) select count(*) as n from t

-- name: cte/two
with a as (select region, sum(price) as s from sales group by region), b as (select avg(s) as m from a) select a.region, a.s from a cross join b where a.s > b.m

-- name: cte/chained
with a as (select * from orders where status = 'shipped'), b as (select customer_id, sum(amount) as t from a group by customer_id) select * from b where t > 200 order by t desc

-- name: cte/shadow-table
with sales as (select * from sales where region = 'North') select count(*) as n from sales

-- name: cte/cols
with t(a, b) as (select region, count(*) from sales group by region) select a, b from t

-- name: cte/used-twice
with t as (select region, sum(units) as u from sales group by region) select x.region, y.u from t x join t y on x.region = y.region

-- name: cte/nested
with a as (with b as (select 1 as x) select x + 1 as y from b) select * from a

-- name: cte/in-sub
select * from (with t as (select region from sales) select distinct region from t) q

-- name: cte/recursive
with recursive t(n) as (select 1 union all select n + 1 from t where n < 10) select sum(n) as s from t

-- name: cte/recursive-org
with recursive org as (select emp_id, manager_id, 1 as lvl from employees where manager_id is null union all select e.emp_id, e.manager_id, o.lvl + 1 from employees e join org o on e.manager_id = o.emp_id) select lvl, count(*) as n from org group by lvl order by lvl

-- name: cte/case
with Monthly as (select region, sum(price) as total from sales group by region) select * from monthly where total > 100

-- name: cte/values
with v(a, b) as (values (1, 'x'), (2, 'y')) select * from v

-- name: cte/unused
with t as (select 1 as x), u as (select 2 as y) select y from u

-- name: cte/union
with t as (select region from sales union select city from customers) select count(*) as n from t

-- name: join/inner
select o.order_id, c.name from orders o join customers c on o.customer_id = c.customer_id

-- name: join/left
select o.order_id, c.name from orders o left join customers c on o.customer_id = c.customer_id

-- name: join/left-null
select o.order_id from orders o left join customers c on o.customer_id = c.customer_id where c.customer_id is null

-- name: join/left-anti-style
select c.name from customers c left join orders o on c.customer_id = o.customer_id where o.order_id is null

-- name: join/right
select o.order_id, c.name, c.customer_id from orders o right join customers c on o.customer_id = c.customer_id

-- name: join/full
select o.order_id, c.name from orders o full join customers c on o.customer_id = c.customer_id

-- name: join/full-outer-keys
select o.customer_id as oc, c.customer_id as cc, o.order_id from orders o full outer join customers c on o.customer_id = c.customer_id

-- name: join/full-coalesce
select coalesce(o.customer_id, c.customer_id) as cid, count(*) as n from orders o full join customers c on o.customer_id = c.customer_id group by 1

-- name: join/cross
select c.name, p.name as pname from customers c cross join products p where c.customer_id < 3

-- name: join/comma
select o.order_id, c.name from orders o, customers c where o.customer_id = c.customer_id

-- name: join/comma-3
select o.order_id, c.name, p.name as pname from orders o, customers c, products p where o.customer_id = c.customer_id and o.product_id = p.product_id and p.price > 20

-- name: join/comma-unqualified
select order_id, segment from orders o, customers c where o.customer_id = c.customer_id and segment = 'A'

-- name: join/three
select o.order_id, c.name, p.name as pname from orders o join customers c on o.customer_id = c.customer_id join products p on o.product_id = p.product_id

-- name: join/three-left
select o.order_id, c.name, p.name as pname, p.price from orders o left join customers c on o.customer_id = c.customer_id left join products p on o.product_id = p.product_id

-- name: join/three-group
select p.category, c.segment, sum(o.amount) as s from orders o join customers c on c.customer_id = o.customer_id join products p on p.product_id = o.product_id group by p.category, c.segment order by 1, 2

-- name: join/self
select e.name, m.name as manager from employees e left join employees m on e.manager_id = m.emp_id

-- name: join/self-inner
select e.name as emp, m.name as mgr, e.salary - m.salary as diff from employees e join employees m on e.manager_id = m.emp_id where e.salary > m.salary

-- name: join/self-pairs
select a.emp_id, b.emp_id as other from employees a join employees b on a.dept = b.dept and a.emp_id < b.emp_id

-- name: join/self-samenames
select e.name, m.name from employees e join employees m on e.manager_id = m.emp_id

-- name: join/using
select order_id, name from orders join customers using (customer_id)

-- name: join/using-key
select customer_id, order_id from orders join customers using (customer_id)

-- name: join/using-star
select * from orders join customers using (customer_id)

-- name: join/using-right
select customer_id, order_id from orders right join customers using (customer_id)

-- name: join/using-full
select customer_id, order_id from orders full join customers using (customer_id)

-- name: join/using-left-group
select customer_id, count(order_id) as n from customers left join orders using (customer_id) group by customer_id

-- name: join/natural
select * from orders natural join (select customer_id, segment from customers) c

-- name: join/star
select * from orders o join customers c on o.customer_id = c.customer_id

-- name: join/star-left
select o.*, c.name from orders o left join customers c on o.customer_id = c.customer_id

-- name: join/star-both
select o.*, c.* from orders o join customers c on o.customer_id = c.customer_id

-- name: join/star-self
select a.*, b.name as mname from employees a join employees b on a.manager_id = b.emp_id

-- name: join/b-star
select b.* from employees a join employees b on a.manager_id = b.emp_id

-- name: join/noneq
select o.order_id, p.product_id from orders o join products p on o.amount < p.price

-- name: join/noneq-left
select o.order_id, p.product_id from orders o left join products p on o.amount < p.price

-- name: join/eq-and-noneq-left
select c.customer_id, o.order_id from customers c left join orders o on c.customer_id = o.customer_id and o.amount > 300

-- name: join/eq-and-literal
select c.customer_id, o.order_id from customers c left join orders o on c.customer_id = o.customer_id and o.status = 'returned'

-- name: join/inner-literal
select c.customer_id, o.order_id from customers c join orders o on c.customer_id = o.customer_id and o.status = 'returned'

-- name: join/left-literal-left
select c.customer_id, o.order_id from customers c left join orders o on c.customer_id = o.customer_id and c.segment = 'A'

-- name: join/or
select c.customer_id, o.order_id from customers c join orders o on c.customer_id = o.customer_id or o.amount > 480

-- name: join/on-expr
select c.name, e.name as en from customers c join employees e on lower(substr(c.name,1,1)) = lower(substr(e.name,1,1))

-- name: join/on-expr-arith
select a.order_id, b.order_id as nxt from orders a join orders b on a.order_id + 1 = b.order_id

-- name: join/between
select e.event_id, s.order_id from events e join orders s on s.order_date between cast(e.ts as date) and cast(e.end_ts as date)

-- name: join/on-true
select count(*) as n from customers c join products p on true

-- name: join/on-1=1
select count(*) as n from customers c join products p on 1=1

-- name: join/nullkeys
select a.id, b.id as bid from sales a join sales b on a.region = b.region and a.units = b.units where a.id < 20 and b.id < 20

-- name: join/is-not-distinct
select a.id, b.id as bid from sales a join sales b on a.region is not distinct from b.region where a.id < 10 and b.id < 10

-- name: join/semi
select c.customer_id from customers c semi join orders o on c.customer_id = o.customer_id

-- name: join/anti
select c.customer_id from customers c anti join orders o on c.customer_id = o.customer_id

-- name: join/derived
select c.name, t.total from customers c join (select customer_id, sum(amount) as total from orders group by customer_id) t on c.customer_id = t.customer_id order by t.total desc

-- name: join/derived-left
select c.name, coalesce(t.n, 0) as n from customers c left join (select customer_id, count(*) as n from orders group by customer_id) t on t.customer_id = c.customer_id

-- name: join/type-mismatch
select o.order_id from orders o join nums n on o.quantity = n.f

-- name: join/str-int
select o.order_id from orders o join texts t on o.quantity = t.s

-- name: join/group-count
select c.name, count(o.order_id) as n, sum(o.amount) as s from customers c left join orders o on o.customer_id = c.customer_id group by c.name order by n desc, c.name

-- name: join/same-col-where
select p.name, o.amount from orders o join products p on o.product_id = p.product_id where p.price > 30 and o.amount > 100

-- name: join/ambiguous-ok
select order_id, city from orders o join customers c on o.customer_id = c.customer_id where status = 'shipped' and segment = 'B'

-- name: join/name-both
select c.name as cname, p.name as pname, sum(amount) as s from orders o join customers c on o.customer_id = c.customer_id join products p on o.product_id = p.product_id group by c.name, p.name order by s desc limit 5

-- name: join/orderby-right
select o.order_id from orders o join products p on o.product_id = p.product_id order by p.name, o.order_id

-- name: join/orderby-right-same
select a.emp_id from employees a join employees b on a.manager_id = b.emp_id order by b.name, a.emp_id

-- name: join/sum-right-same
select sum(b.salary) as s, sum(a.salary) as t from employees a join employees b on a.manager_id = b.emp_id

-- name: join/group-right-same
select b.name, count(*) as n from employees a join employees b on a.manager_id = b.emp_id group by b.name

-- name: join/where-right-same
select a.name from employees a left join employees b on a.manager_id = b.emp_id where b.name = 'Ann'

-- name: join/three-self
select e.name, m.name as m, g.name as g from employees e left join employees m on e.manager_id = m.emp_id left join employees g on m.manager_id = g.emp_id

-- name: join/chain-on-second
select c.name, o.order_id, p.name as pn from customers c join orders o on c.customer_id = o.customer_id join products p on p.product_id = o.product_id where c.city = 'Paris'

-- name: join/lateral
select c.name, t.mx from customers c, lateral (select max(amount) as mx from orders o where o.customer_id = c.customer_id) t

-- name: join/asof
select e.event_id from events e asof join orders o on e.ts >= o.order_date

-- name: join/nested-parens
select o.order_id, c.name from (orders o join customers c on o.customer_id = c.customer_id)

-- name: join/full-noneq-where
select count(*) as n from orders o full join customers c on o.customer_id = c.customer_id where o.order_id is null or c.customer_id is null

-- name: join/left-count-match
select count(*) as n, count(c.customer_id) as m from orders o left join customers c on o.customer_id = c.customer_id

-- name: join/table-name-qual
select orders.order_id, customers.name from orders join customers on orders.customer_id = customers.customer_id

-- name: join/right-star
select * from orders o right join customers c on o.customer_id = c.customer_id

-- name: sub/scalar-where
select id from sales where price > (select avg(price) from sales)

-- name: sub/scalar-select
select id, price - (select avg(price) from sales) as d from sales

-- name: sub/scalar-only
select (select count(*) from sales) as a, (select count(*) from orders) as b

-- name: sub/scalar-having
select region, avg(price) as a from sales group by region having avg(price) > (select avg(price) from sales)

-- name: sub/scalar-empty
select id from sales where price > (select max(y) from empty)

-- name: sub/scalar-case
select id, case when price > (select avg(price) from sales) then 'hi' else 'lo' end as c from sales

-- name: sub/in
select name from customers where customer_id in (select customer_id from orders where amount > 400)

-- name: sub/not-in
select name from customers where customer_id not in (select customer_id from orders where customer_id is not null)

-- name: sub/not-in-null
select name from customers where customer_id not in (select customer_id from orders)

-- name: sub/in-or
select name from customers where city = 'Paris' or customer_id in (select customer_id from orders where amount > 400)

-- name: sub/in-group
select name from customers where customer_id in (select customer_id from orders group by customer_id having count(*) > 4)

-- name: sub/in-case-sel
select name, customer_id in (select customer_id from orders) as has from customers

-- name: sub/not-in-not
select name from customers where not customer_id in (select customer_id from orders where customer_id is not null)

-- name: sub/in-limit
select count(*) as n from orders where customer_id in (select customer_id from customers order by customer_id limit 5)

-- name: sub/exists
select c.name from customers c where exists (select 1 from orders o where o.customer_id = c.customer_id)

-- name: sub/exists-star
select c.name from customers c where exists (select * from orders o where o.customer_id = c.customer_id and o.amount > 400)

-- name: sub/not-exists
select c.name from customers c where not exists (select 1 from orders o where o.customer_id = c.customer_id)

-- name: sub/exists-self
select e.name from employees e where exists (select 1 from employees m where m.manager_id = e.emp_id)

-- name: sub/exists-noneq
select e.name from employees e where not exists (select 1 from employees m where m.dept = e.dept and m.salary > e.salary)

-- name: sub/exists-uncorr
select count(*) as n from customers where exists (select 1 from orders where amount > 499999)

-- name: sub/exists-select
select c.name, exists (select 1 from orders o where o.customer_id = c.customer_id) as has from customers c

-- name: sub/exists-or
select c.name from customers c where c.city = 'Rome' or exists (select 1 from orders o where o.customer_id = c.customer_id and o.amount > 450)

-- name: sub/corr-select
select c.name, (select sum(o.amount) from orders o where o.customer_id = c.customer_id) as t from customers c

-- name: sub/corr-count
select c.name, (select count(*) from orders o where o.customer_id = c.customer_id) as n from customers c

-- name: sub/corr-where
select e.name from employees e where e.salary > (select avg(m.salary) from employees m where m.dept = e.dept)

-- name: sub/corr-eq-max
select o.order_id from orders o where o.amount = (select max(x.amount) from orders x where x.customer_id = o.customer_id)

-- name: sub/derived
select region, s from (select region, sum(price) as s from sales group by region) t where s > 1000

-- name: sub/derived-noalias
select avg(s) as a from (select region, sum(price) as s from sales group by region)

-- name: sub/derived-nested
select max(a) as m from (select avg(s) as a from (select region, product, sum(price) as s from sales group by region, product) x group by region) y

-- name: sub/any
select product_id from products where price > any (select price from products where category = 'Toys')

-- name: sub/all
select product_id from products where price >= all (select price from products)

-- name: sub/eq-any
select name from customers where customer_id = any (select customer_id from orders where amount > 400)

-- name: sub/derived-shadow
select count(*) as n from (select * from sales limit 10) sales

-- name: sub/in-derived-order
select * from (select id, price from sales order by price desc nulls last, id limit 5) t order by id

-- name: sub/tuple-in
select order_id from orders where (customer_id, amount) in (select customer_id, max(amount) from orders group by customer_id)

-- name: sub/limit-scalar
select (select name from products order by price desc limit 1) as top

-- name: set/union
select region from sales union select city from customers

-- name: set/union-all
select region from sales union all select city from customers

-- name: set/union-all-order
select region as r from sales where id < 5 union all select city from customers where customer_id < 5 order by r

-- name: set/union-order-ord
select region, 1 as k from sales where id < 5 union select city, 2 from customers order by 1, 2

-- name: set/union-limit
select id from sales union select order_id from orders order by id desc limit 5

-- name: set/union-types
select units as v from sales union all select price from sales

-- name: set/union-int-str
select units as v from sales union all select region from sales

-- name: set/union-null
select id, region from sales union all select order_id, null from orders

-- name: set/union-3
select 'a' as k, count(*) as n from sales union all select 'b', count(*) from orders union all select 'c', count(*) from customers

-- name: set/union-distinct-null
select region from sales union select region from sales

-- name: set/intersect
select customer_id from orders intersect select customer_id from customers

-- name: set/except
select customer_id from customers except select customer_id from orders

-- name: set/except-null
select region from sales except select 'North'

-- name: set/intersect-null
select region from sales intersect select region from sales

-- name: set/except-all
select units from sales except all select units from sales where id > 100

-- name: set/intersect-all
select units from sales intersect all select units from sales where id > 100

-- name: set/mixed-prec
select 1 as x union all select 2 union select 2

-- name: set/paren
(select id from sales order by id limit 3) union all (select order_id from orders order by order_id limit 2)

-- name: set/by-name
select 1 as a, 2 as b union all by name select 3 as b, 4 as a

-- name: set/except-chain
select id from sales except select 3 except select 5

-- name: set/union-in-derived
select k, sum(v) as s from (select region as k, units as v from sales union all select product, units from sales) t group by k

-- name: set/dup-names
select customer_id, name from customers union all select product_id, name from products

-- name: set/total-row
select region, sum(units) as u from sales group by region union all select 'Total', sum(units) from sales

-- name: set/date-ts
select order_date as d from sales union all select ts from events

-- name: set/intersect-prec
select 1 as x union select 2 intersect select 3

-- name: set/except-in-union
select 1 as a union all select 2 except select 2

-- name: date/trunc-month
select order_id, date_trunc('month', order_date) as m from orders

-- name: date/trunc-year
select date_trunc('year', order_date) as y, count(*) as n from orders group by 1

-- name: date/trunc-quarter
select date_trunc('quarter', order_date) as q, sum(amount) as s from orders group by 1 order by 1

-- name: date/trunc-week
select date_trunc('week', order_date) as w, sum(amount) as s from orders group by 1 order by 1

-- name: date/trunc-day-ts
select date_trunc('day', ts) as d, count(*) as n from events group by 1 order by 1

-- name: date/trunc-hour-ts
select date_trunc('hour', ts) as d from events

-- name: date/trunc-minute-ts
select date_trunc('minute', ts) as d, date_trunc('second', ts) as s from events

-- name: date/extract
select extract(year from order_date) as y, extract(month from order_date) as m, extract(day from order_date) as d from orders

-- name: date/extract-dow
select extract(dow from order_date) as w, extract(isodow from order_date) as i, extract(week from order_date) as k, extract(quarter from order_date) as q, extract(doy from order_date) as doy from orders

-- name: date/extract-ts
select extract(hour from ts) as h, extract(minute from ts) as m, extract(second from ts) as s from events

-- name: date/extract-ms
select extract(millisecond from ts) as ms, extract(microsecond from ts) as us, extract(epoch from ts) as ep from events

-- name: date/epoch-date
select extract(epoch from order_date) as e from orders

-- name: date/extract-decade
select extract(decade from order_date) as d, extract(century from order_date) as c, extract(isoyear from order_date) as i from orders

-- name: date/month-arith
select extract(year from order_date) * 100 + extract(month from order_date) as ym from orders

-- name: date/month-mul
select extract(month from order_date) * 100 as x from orders

-- name: date/hour-min
select extract(hour from ts) * 60 + extract(minute from ts) as m from events

-- name: date/date-part
select date_part('year', order_date) as y, date_part('month', order_date) as m, date_part('dow', order_date) as w from orders

-- name: date/date-part2
select date_part('week', order_date) as a, date_part('weekday', order_date) as b, date_part('yearweek', order_date) c from orders

-- name: date/year-fn
select year(order_date) as y, month(order_date) as m, day(order_date) as d, quarter(order_date) as q from orders

-- name: date/dow-fn
select dayofweek(order_date) as a, isodow(order_date) as b, week(order_date) as c, dayofyear(order_date) as d, weekofyear(order_date) as e from orders

-- name: date/hour-fn
select hour(ts) as h, minute(ts) as m, second(ts) as s from events

-- name: date/names
select dayname(order_date) as d, monthname(order_date) as m from orders

-- name: date/plus-interval
select order_date + interval '7 days' as d from orders

-- name: date/plus-interval-1-month
select order_date + interval '1 month' as d from orders

-- name: date/interval-unquoted
select order_date + interval 1 month as d, order_date - interval 10 day as e from orders

-- name: date/minus-interval-where
select order_id from orders where order_date >= date '2024-12-31' - interval '30 days'

-- name: date/interval-ts
select ts + interval '90 minutes' as d, ts - interval '1 hour' as e from events

-- name: date/interval-1-field
select order_date + interval '1' year as d from orders

-- name: date/interval-month-end
select date '2024-01-31' + interval '1 month' as d

-- name: date/interval-neg
select order_date + interval '-1 day' as d from orders

-- name: date/interval-mul
select order_date + interval '1 day' * quantity as d from orders

-- name: date/plus-int
select order_date + 7 as d, order_date - 1 as e from orders

-- name: date/diff-days
select order_id, date '2024-12-31' - order_date as d from orders

-- name: date/diff-days-where
select order_id from orders where date '2024-12-31' - order_date < 30

-- name: date/datediff
select date_diff('day', order_date, date '2024-12-31') as d, datediff('month', order_date, date '2024-12-31') as m from orders

-- name: date/datediff-hour
select date_diff('hour', ts, end_ts) as h, datediff('minute', ts, end_ts) as m from events

-- name: date/datesub
select date_sub('month', order_date, date '2024-12-31') as m from orders

-- name: date/ts-diff
select end_ts - ts as d from events

-- name: date/ts-diff-epoch
select extract(epoch from (end_ts - ts)) as s from events

-- name: date/ts-diff-avg
select avg(end_ts - ts) as s from events

-- name: date/age
select age(date '2024-12-31', order_date) as a from orders

-- name: date/strftime
select strftime(order_date, '%Y-%m-%d') as a, strftime(order_date, '%d/%m/%Y') as b, strftime(order_date, '%b %Y') as c from orders

-- name: date/strftime-more
select strftime(ts, '%Y-%m-%d %H:%M:%S') as a, strftime(ts, '%A %j %U') as b, strftime(ts,'%-d %-m') as c from events

-- name: date/strftime-us
select strftime(ts, '%H:%M:%S.%f') as a, strftime(ts, '%p %I') as b from events

-- name: date/strftime-rev
select strftime('%Y-%m', order_date) as a from orders

-- name: date/strptime
select strptime('15/02/2024', '%d/%m/%Y') as d

-- name: date/strptime-col
select try_strptime(s, '%d/%m/%Y') as d from texts

-- name: date/to-char
select to_char(order_date, 'YYYY-MM') as m from orders

-- name: date/make-date
select make_date(2024, 2, 29) as d

-- name: date/make-date-col
select make_date(cast(extract(year from order_date) as int), 1, 1) as d from orders

-- name: date/cast-str
select cast('2024-02-29' as date) as d, '2024-02-29'::date as e, cast('2024-02-29 10:20:30' as timestamp) as f

-- name: date/cast-col
select try_cast(s as date) as d from texts

-- name: date/ts-to-date
select ts::date as d, count(*) as n from events group by 1

-- name: date/date-fn-ts
select date(ts) as d, count(*) as n from events group by 1

-- name: date/date-to-ts
select order_date::timestamp as t from orders

-- name: date/date-to-str
select order_date::varchar as t, ts::varchar as u, tod::varchar as v from orders, events where order_id = 1000 and event_id < 4

-- name: date/current-minus
select count(*) as n from orders where order_date >= current_date - interval '365 days' and order_date < date '2000-01-01'

-- name: date/last-day
select last_day(order_date) as d from orders

-- name: date/epoch-fn
select epoch(ts) as e, epoch_ms(ts) as m from events

-- name: date/to-timestamp
select to_timestamp(1700000000) as t

-- name: date/time-bucket
select time_bucket(interval '15 minutes', ts) as b, count(*) as n from events group by 1 order by 1

-- name: date/date-add
select date_add(order_date, interval '1 day') as d from orders

-- name: date/dateadd
select date_trunc('month', order_date) + interval '1 month' - interval '1 day' as eom from orders

-- name: date/between-ts
select event_id from events where ts between timestamp '2024-03-01 00:00:00' and timestamp '2024-03-10 23:59:59'

-- name: date/max-date-eq
select order_id from orders where order_date = (select max(order_date) from orders)

-- name: date/month-eq
select order_id from orders where extract(month from order_date) = 3 and extract(year from order_date) = 2024

-- name: date/weekend
select count(*) as n from orders where extract(dow from order_date) in (0, 6)

-- name: date/time-extract
select extract(hour from tod) as h, count(*) as n from events group by 1

-- name: date/null-arith
select ts + interval '1 day' as d from events where ts is null

-- name: date/lit-arith
select date '2024-03-01' - interval '1 day' as d, timestamp '2024-03-01 00:00:00' - interval '1 second' as e

-- name: date/generate
select count(*) as n from generate_series(1, 10)

-- name: date/gen-dates
select d::date as d from generate_series(date '2024-01-01', date '2024-01-05', interval '1 day') as t(d)

-- name: date/range
select * from range(5) as r(i)

-- name: str/concat-op
select s || '!' as x from texts

-- name: str/concat-null
select region || '-' || product as x from sales

-- name: str/concat-fn
select concat(region, '-', product) as x from sales

-- name: str/concat-num
select product || ' ' || units as x, concat(product, units, price) as y from sales

-- name: str/concat-float
select 'v=' || price as x from sales where id < 30

-- name: str/concat-bool
select 'b=' || is_online as x, 'd=' || order_date as y from sales

-- name: str/concat-ws
select concat_ws('/', region, product, units) as x from sales

-- name: str/like
select s from texts where s like 'h%'

-- name: str/like-mid
select s from texts where s like '%llo%'

-- name: str/like-us
select s from texts where s like '_bc'

-- name: str/like-esc
select s from texts where s like '%\%%' escape '\'

-- name: str/like-esc-us
select s from texts where s like '%!_%' escape '!'

-- name: str/like-lit-us
select s from texts where s like '%_b%'

-- name: str/like-dot
select s from texts where s like '%.%'

-- name: str/like-paren
select s from texts where s like '%(%' or s like '%+%'

-- name: str/not-like
select s from texts where s not like '%o%'

-- name: str/ilike
select s from texts where s ilike 'hello%'

-- name: str/not-ilike
select s from texts where s not ilike '%HELLO%'

-- name: str/ilike-uni
select s from texts where s ilike '%ÜN%'

-- name: str/like-col
select tid from texts where s like s

-- name: str/like-concat
select tid from texts where s like '%' || 'ell' || '%'

-- name: str/like-any
select name from products where name like 'Prod1_' or name like '%9'

-- name: str/like-tilde
select s from texts where s ~ '^[a-z]+$'

-- name: str/tilde-partial
select s from texts where s ~ '[0-9]+'

-- name: str/not-tilde
select s from texts where s !~ '[0-9]+'

-- name: str/tilde-star
select s from texts where s ~* 'HELLO'

-- name: str/regexp-matches
select s from texts where regexp_matches(s, '[0-9]{2}')

-- name: str/regexp-like
select s from texts where regexp_full_match(s, '[a-z]+')

-- name: str/similar
select s from texts where s similar to '[a-z]+'

-- name: str/regexp-replace
select regexp_replace(s, '[0-9]+', '#') as x from texts

-- name: str/regexp-replace-g
select regexp_replace(s, '[0-9]', '#', 'g') as x from texts

-- name: str/regexp-extract
select regexp_extract(s, '([a-z]+)@([a-z]+)', 2) as x from texts

-- name: str/regexp-extract0
select regexp_extract(s, '[0-9]+') as x from texts

-- name: str/substr
select substr(s, 2, 3) as x, substr(s, 3) as y from texts

-- name: str/substring
select substring(s, 1, 4) as x, substring(s from 2 for 3) as y, substring(s from 3) as z from texts

-- name: str/substr-neg
select substr(s, -3) as x, substr(s, 0, 3) as y, substr(s, -2, 1) as z from texts

-- name: str/substr-col
select substr(s, n) as x from texts

-- name: str/substr-col2
select substr(s, n, 2) as x from texts

-- name: str/left-right
select left(s, 3) as x, right(s, 3) as y from texts

-- name: str/left-neg
select left(s, -2) as x, right(s, -2) as y from texts

-- name: str/split-part
select split_part(s, ',', 1) as a, split_part(s, ',', 2) as b, split_part(s, ',', 9) as c from texts

-- name: str/split-part-neg
select split_part(s, '@', -1) as a, split_part(s, '@', 2) as b from texts

-- name: str/split
select string_split(s, ',') as a from texts

-- name: str/split-idx
select string_split(s, ',')[1] as a from texts

-- name: str/position
select position('o' in s) as p, strpos(s, 'l') as q, instr(s, 'l') as r from texts

-- name: str/strpos-arith
select substr(s, 1, strpos(s, '@') - 1) as u from texts where s like '%@%'

-- name: str/domain
select split_part(s, '@', 2) as d, count(*) as n from texts where s like '%@%' group by 1

-- name: str/replace
select replace(s, 'l', 'L') as x, replace(s, ',', '') as y from texts

-- name: str/trim
select trim(s) as a, ltrim(s) as b, rtrim(s) as c from texts

-- name: str/trim-both
select trim(both 'x' from s) as a, trim(leading '_' from s) as b, trim(s, '%') as c from texts

-- name: str/lpad
select lpad(s, 8, '*') as a, rpad(s, 8, '.') as b from texts

-- name: str/lpad-num
select lpad(cast(units as varchar), 4, '0') as a from sales

-- name: str/lpad-multi
select lpad(s, 8, 'ab') as a from texts

-- name: str/upper-lower
select upper(s) as a, lower(s) as b from texts

-- name: str/initcap
select initcap(s) as a from texts

-- name: str/length
select length(s) as a, char_length(s) as b, octet_length(encode(s)) as c from texts

-- name: str/len
select len(s) as a, strlen(s) as b from texts

-- name: str/length-arith
select length(s) - 5 as d from texts

-- name: str/length-count
select length(s) - length(replace(s, 'l', '')) as n from texts

-- name: str/length-where
select s from texts where length(s) > 10

-- name: str/reverse
select reverse(s) as x from texts

-- name: str/repeat
select repeat(s, 2) as x from texts

-- name: str/starts
select s from texts where starts_with(s, 'a')

-- name: str/ends
select s from texts where ends_with(s, 'd') or suffix(s, 'g')

-- name: str/contains
select s from texts where contains(s, 'ell')

-- name: str/prefix
select s from texts where prefix(s, 'he')

-- name: str/ascii
select ascii(s) as a, chr(65) as b, unicode(s) as c from texts where s <> ''

-- name: str/md5
select md5(s) as x from texts

-- name: str/empty-vs-null
select count(*) as n from texts where s = ''

-- name: str/nullif-empty
select count(nullif(s, '')) as n from texts

-- name: str/cmp
select s from texts where s > 'a'

-- name: str/min-max
select min(s) as a, max(s) as b from texts where s <> ''

-- name: str/upper-group
select lower(product) as p, sum(units) as u from sales group by lower(product) order by u desc

-- name: str/translate
select translate(s, 'abc', 'xyz') as x from texts

-- name: str/strip-accents
select strip_accents(s) as x from texts

-- name: str/format
select format('{} has {}', product, units) as x from sales where units is not null

-- name: str/printf
select printf('%.2f', price) as x from sales

-- name: str/quote-lit
select 'it''s' as x, s from texts where s = 'it''s'

-- name: str/position-null
select strpos(region, 'o') as p from sales

-- name: str/in-strings
select s from texts where lower(s) in ('hello', 'zebra')

-- name: str/cast-num
select cast(s as integer) as n from texts where s in ('42', '-7')

-- name: str/try-cast
select try_cast(s as integer) as n, try_cast(s as double) as d from texts

-- name: str/concat-int-lit
select 'Q' || extract(quarter from order_date) as q, count(*) as n from orders group by 1 order by 1

-- name: str/year-quarter
select extract(year from order_date) || '-Q' || extract(quarter from order_date) as yq, sum(amount) as s from orders group by 1 order by 1

-- name: str/array-str
select array_to_string(list_value('a','b'), '-') as x

-- name: str/e-string
select E'a\nb' as x

-- name: num/div-int
select i / j as x from nums where j <> 0

-- name: num/div-int-lit
select 7 / 2 as x, 1 / 3 as y

-- name: num/div-zero
select i / z as x from nums

-- name: num/div-zero-f
select f / z as x from nums

-- name: num/div-nullif
select i / nullif(z, 0) as x from nums

-- name: num/intdiv
select i // j as x from nums where j <> 0

-- name: num/intdiv-zero
select i // z as x from nums

-- name: num/intdiv-neg
select -7 // 2 as a, 7 // -2 as b

-- name: num/mod
select i % j as x from nums where j <> 0

-- name: num/mod-zero
select i % z as x from nums

-- name: num/mod-fn
select mod(i, 3) as x from nums

-- name: num/mod-neg
select -7 % 3 as a, 7 % -3 as b, -7 % -3 as c

-- name: num/mod-float
select f % 2 as x from nums

-- name: num/even
select k from nums where i % 2 = 1

-- name: num/round
select round(f) as a from nums

-- name: num/round-2
select round(f, 2) as a, round(f, 1) as b from nums

-- name: num/round-0
select round(f, 0) as a from nums

-- name: num/round-half
select round(0.5) as a, round(1.5) as b, round(2.5) as c, round(-0.5) as d, round(-2.5) as e

-- name: num/round-neg
select round(k * 13, -1) as a from nums

-- name: num/round-int
select round(i) as a, round(i, 1) as b from nums

-- name: num/floor
select floor(f) as a, ceil(f) as b, ceiling(f) as c, trunc(f) as d from nums

-- name: num/floor-int
select floor(i) as a, ceil(i) as b from nums

-- name: num/abs
select abs(i) as a, abs(f) as b, sign(i) as c, sign(f) as d from nums

-- name: num/pow
select power(i, 2) as a, pow(f, 2) as b, i ^ 2 as c, i ** 2 as d from nums

-- name: num/pow-neg
select power(2, -1) as a, power(2, 0.5) as b, power(j, -1) as c from nums where j <> 0

-- name: num/sqrt
select sqrt(abs(f)) as a, cbrt(f) as b from nums

-- name: num/sqrt-int
select sqrt(k) as a from nums

-- name: num/ln
select ln(h) as a, log10(h) as b, log2(h) as c from nums where h > 0

-- name: num/log1
select log(h) as a from nums where h > 0

-- name: num/log-base
select log(2, h) as a from nums where h > 0

-- name: num/ln-zero
select k, case when z > 0 then ln(z) end as a from nums

-- name: num/exp
select exp(f) as a, pi() as b, degrees(f) c, radians(f) d from nums

-- name: num/greatest
select greatest(i, j) as a, least(i, j) as b, greatest(i, 0) as c from nums

-- name: num/greatest-mixed
select greatest(i, f) as a, least(i, f, 1) as b from nums

-- name: num/cast-int
select cast(f as integer) as a, f::bigint as b from nums

-- name: num/cast-int-half
select cast(2.5 as int) as a, cast(3.5 as int) as b, cast(-2.5 as int) as c, cast(1.4 as int) as d

-- name: num/cast-dec
select cast(f as decimal(10,2)) as a from nums

-- name: num/cast-numeric
select round(cast(f as numeric), 2) as a, f::numeric(10,1) as b from nums

-- name: num/cast-str
select cast(i as varchar) as a, cast(f as varchar) as b, cast(big as text) as c from nums

-- name: num/overflow-mul
select big * 4 as x from nums

-- name: num/overflow-add
select big + big as x from nums

-- name: num/big-lit
select count(*) as n from nums where big > 4611686018427387900

-- name: num/big-lit2
select 9223372036854775808 as x

-- name: num/big-eq
select k from nums where big = 4611686018427387903

-- name: num/float-sum
select sum(h) as s, sum(f) as t from nums

-- name: num/dec-lit
select 0.1 + 0.2 as x, 1.10 * 3 as y

-- name: num/int-plus-float
select i + f as a, i * 1.0 / 3 as b, 100 * i / 7 as c from nums

-- name: num/pct-round
select g, round(100.0 * sum(i) / (sum(abs(i)) + 1), 2) as p from nums group by g

-- name: num/unary
select +i as a, - -i as b, -f as c from nums

-- name: num/bitops
select i & 3 as a, i | 1 as b, i << 1 as c, xor(i, 3) as d from nums

-- name: num/isnan
select isnan(f) as a from nums

-- name: num/nan
select 'nan'::double > 1 as a

-- name: num/sum-int-div
select sum(i) / count(*) as a, sum(i) // count(i) as b from nums

-- name: num/avg-cast
select cast(avg(i) as int) as a, avg(i)::decimal(10,3) as b from nums

-- name: num/smallint
select cast(k as smallint) + 32000 as x from nums

-- name: num/sci
select k from nums where h > 1e9

-- name: num/bin
select width_bucket(f, 0, 10, 5) from nums

-- name: num/gcd
select gcd(i, j) as a, factorial(5) as b from nums

-- name: num/even-odd
select case when k % 2 = 0 then 'even' else 'odd' end as p, count(*) as n from nums group by p

-- name: num/int-x-lit
select i * 0.1 as a, i / 2.0 as b, i / 4 as c from nums

-- name: num/cmp-int-float
select k from nums where i > f

-- name: num/sum-round
select round(sum(price), 2) as a, round(avg(price), 0) as b from sales

-- name: num/round-half-col
select id, round(price, 1) as r from sales

-- name: null/coalesce
select coalesce(region, 'none') as r, coalesce(units, 0) as u, coalesce(price, units, 0) as p from sales

-- name: null/coalesce-type
select coalesce(units, price) as x from sales

-- name: null/ifnull
select ifnull(region, 'x') as r, nvl(region, 'y') as q from sales

-- name: null/nullif
select nullif(units, 3) as a, nullif(region, 'North') as b from sales

-- name: null/if
select if(units > 3, 'a', 'b') as x, iif(units > 3, 1, 0) as y from sales

-- name: null/3vl
select null and false as a, null or true as b, not null as c, null = 1 as d

-- name: null/3vl-col
select is_online and (units > 3) as a, is_online or (units > 3) as b, not is_online as c from sales

-- name: null/eq-null
select count(*) as n from sales where region = null

-- name: null/is-null-sel
select region is null as a, units is not null as b from sales

-- name: null/not-in-col
select id from sales where units not in (1, 2, null)

-- name: null/sum-null
select units + null as a, null || 'x' as b from sales where id < 4

-- name: null/order-group
select region, count(*) as n from sales group by region order by region

-- name: null/order-group-desc
select region, count(*) as n from sales group by region order by region desc

-- name: null/case-null
select case when region is null then 'unk' else region end as r, count(*) as n from sales group by r order by r

-- name: null/avg-null
select avg(coalesce(price, 0)) as a, avg(price) as b from sales

-- name: null/distinct-count
select count(distinct coalesce(region, 'x')) as n from sales

-- name: null/is-unknown
select id from sales where (units > 3) is unknown

-- name: null/isnull-op
select id from sales where region isnull

-- name: null/between-null
select id from sales where units between 1 and null

-- name: null/greatest-allnull
select greatest(null, null) as a, greatest(1, null) as b

-- name: case/simple
select case region when 'North' then 'N' when 'South' then 'S' else 'O' end as r from sales

-- name: case/no-else
select case when price > 50 then 'hi' end as r from sales

-- name: case/types
select case when units > 3 then 1 else 2.5 end as r from sales

-- name: case/nested
select case when price > 50 then case when units > 3 then 'a' else 'b' end else 'c' end as r from sales

-- name: case/null-operand
select case region when null then 'x' else 'y' end as r from sales

-- name: case/div-guard
select case when z = 0 then null else i / z end as r from nums

-- name: case/mixed-int-str
select case when units > 3 then units else -1 end as r from sales

-- name: case/int-and-null
select sum(case when units > 3 then units end) as s from sales

-- name: case/bool-res
select id from sales where case when units is null then false else units > 5 end

-- name: case/then-str-num
select case when units > 3 then '1' else units end as r from sales

-- name: case/in-order
select id from sales order by case when region = 'North' then 0 else 1 end, id limit 5

-- name: case/agg-in-case
select region, case when sum(price) > 1000 then 'big' else 'small' end as size from sales group by region

-- name: case/case-in-agg-avg
select avg(case when is_online then price end) as a from sales

-- name: cast/colons
select '42'::int as a, 42::varchar as b, '3.5'::double as c, 'true'::boolean as d, 1::boolean as e

-- name: cast/int-bool
select units::boolean as b, is_online::int as i from sales

-- name: cast/str-bool
select 'false'::bool as a, 't'::bool as b

-- name: cast/float-str
select 1.0::varchar as a, 1e10::double::varchar as b, 0.1::double::varchar as c

-- name: cast/dec-str
select '2.7'::int as a

-- name: cast/types
select cast(1 as tinyint) as a, cast(1 as smallint) as b, cast(1 as bigint) as c, cast(1 as real) as d, cast(1 as float) as e, cast(1 as hugeint) as f

-- name: cast/try-int-float
select try_cast('x' as int) as a, try_cast('1.5' as double) as b

-- name: cast/str-time
select cast('12:34:56' as time) as t, time '01:02:03' as u

-- name: cast/ts-str
select '2024-01-01'::timestamp as a

-- name: cast/date-int
select cast(order_date as int) from orders

-- name: cast/strict-fail
select cast(s as int) as n from texts

-- name: values/from
select * from (values (1, 'a'), (2, 'b')) as t(x, y)

-- name: values/plain
values (1, 2), (3, 4)

-- name: values/expr
select * from (values (1 + 1, upper('a'))) as t(x, y)

-- name: values/neg
select * from (values (-1, null), (2.5, 'b')) as t(x, y)

-- name: values/join
select s.region, v.label from sales s join (values ('North', 'N'), ('South', 'S')) as v(region, label) on s.region = v.region

-- name: misc/show
show tables

-- name: misc/describe
describe sales

-- name: misc/summarize
summarize sales

-- name: misc/explain
select typeof(price) as t from sales limit 1

-- name: misc/sample
select count(*) as n from (select * from sales using sample 5) t

-- name: misc/unnest
select unnest([1,2,3]) as x

-- name: misc/unnest-split
select tid, unnest(string_split(s, ',')) as p from texts where s like '%,%'

-- name: misc/pivot
pivot sales on region using sum(units) group by product

-- name: misc/unpivot
unpivot (select id, price, units::double as units from sales) on price, units into name k value v

-- name: misc/list-agg-len
select region, len(list(id)) as n from sales group by region

-- name: misc/struct
select {'a': 1} as s

-- name: misc/lambda
select list_transform([1,2,3], x -> x + 1) as l

-- name: misc/upper-kw
SELECT region, COUNT(*) AS n FROM sales WHERE price IS NOT NULL GROUP BY region ORDER BY n DESC, region ASC LIMIT 3

-- name: misc/group-concat-distinct
select string_agg(distinct region, ', ' order by region) as r from sales

-- name: misc/funnel
select count(distinct case when kind = 'view' then user_id end) as v, count(distinct case when kind='buy' then user_id end) as b from events

-- name: misc/cohort
with f as (select user_id, min(ts::date) as d0 from events where ts is not null group by user_id) select f.d0, count(distinct e.user_id) as n from events e join f on e.user_id = f.user_id group by f.d0 order by f.d0

-- name: misc/dupes
select id, count(*) as n from sales group by id having count(*) > 1 order by id

-- name: misc/dedup
select id, region, price from (select *, row_number() over (partition by id order by id) as rn from sales) where rn = 1

-- name: misc/top-per-group
select region, product, u from (select region, product, sum(units) as u, rank() over (partition by region order by sum(units) desc) as rk from sales group by region, product) t where rk = 1

-- name: misc/mom
with m as (select date_trunc('month', order_date) as mth, sum(amount) as s from orders group by 1) select mth, s, s - lag(s) over (order by mth) as diff from m order by mth

-- name: misc/pareto
with t as (select product, sum(price) as rev from sales group by product) select product, rev, sum(rev) over (order by rev desc) / sum(rev) over () as cum from t order by rev desc

-- name: misc/retention
select count(*) as n from (select user_id, count(distinct ts::date) as d from events group by user_id having count(distinct ts::date) > 1) t

-- name: misc/null-pct
select 100.0 * sum(case when price is null then 1 else 0 end) / count(*) as p from sales

-- name: misc/min-max-avg
select min(price) as mn, max(price) as mx, avg(price) as av, stddev(price) as sd, median(price) as md, count(*) as n from sales

-- name: misc/between-cols
select id from sales where price between units and units * 20

-- name: misc/outlier
select id from sales where price > (select avg(price) + 1.5 * stddev(price) from sales)

-- name: misc/zscore
select id, (price - avg(price) over ()) / stddev(price) over () as z from sales where price is not null

-- name: misc/gaps
with d as (select distinct order_date as d from orders) select d, lead(d) over (order by d) as nx, lead(d) over (order by d) - d as gap from d order by d

-- name: misc/rate
select segment, avg(case when city = 'Paris' then 1.0 else 0.0 end) as r from customers group by segment

-- name: misc/bool-avg
select region, avg(is_online::int) as r from sales group by region

-- name: misc/yoy
select extract(year from order_date) as y, sum(price) as s from sales where extract(year from order_date) in (2023, 2024) group by 1 order by 1

-- name: misc/day-diff
select avg(cast(end_ts as date) - cast(ts as date)) as d from events

-- name: misc/round-share
select region, round(sum(price) * 100.0 / sum(sum(price)) over (), 2) as pct from sales group by region order by pct desc

-- name: misc/ilike-group
select count(*) as n from sales where product ilike 'wid%' group by region order by n

-- name: hunt/cte-alias-table
select count(*) as n from customers orders join orders o on orders.customer_id = o.customer_id

-- name: hunt/derived-then-base
select (x.n) as a, (select count(*) from sales) as b from (select count(*) as n from (select * from sales limit 3) sales) x

-- name: hunt/derived-alias-is-table
select s.n, c.m from (select count(*) as n from orders) s cross join (select count(*) as m from customers) c

-- name: hunt/derived-same-alias-nested
select count(*) as n from (select t.id from (select * from sales where id < 10) t) t join sales s on s.id = t.id

-- name: hunt/alias-leak
select a.id from sales a where a.id in (select a.order_id - 1000 from orders a)

-- name: hunt/in-sub-samecol
select s.id from sales s where s.units in (select o.quantity from orders o where o.order_id - 1000 = s.id)

-- name: hunt/in-sub-corr-samecol
select o.order_id from orders o where o.product_id in (select p.product_id from products p where p.price > o.amount)

-- name: hunt/in-sub-unq
select name from customers where name in (select name from customers where city = 'Paris')

-- name: hunt/in-sub-unq2
select order_id from orders where customer_id in (select customer_id from customers where city = 'Paris')

-- name: hunt/in-sub-typo
select name from customers where customer_id in (select customer_id from products)

-- name: hunt/exists-unq
select name from customers where exists (select 1 from orders where orders.customer_id = customers.customer_id and amount > 450)

-- name: hunt/exists-3tab
select c.name from customers c where exists (select 1 from orders o join products p on o.product_id = p.product_id where o.customer_id = c.customer_id and p.category = 'Toys')

-- name: hunt/not-exists-nullkey
select s.id from sales s where not exists (select 1 from customers c where c.city = s.region)

-- name: hunt/not-exists-nullself
select e.emp_id from employees e where not exists (select 1 from employees m where m.manager_id = e.manager_id and m.emp_id <> e.emp_id)

-- name: hunt/exists-after-join
select o.order_id from orders o join customers c on o.customer_id = c.customer_id where exists (select 1 from products p where p.product_id = o.product_id and p.price > 30)

-- name: hunt/exists-outer-dup
select o.order_id from orders o join products p on o.product_id = p.product_id where exists (select 1 from customers c where c.customer_id = o.customer_id and c.name = p.name)

-- name: hunt/exists-right-key
select a.emp_id from employees a join employees b on a.manager_id = b.emp_id where exists (select 1 from orders o where o.quantity = b.emp_id)

-- name: hunt/not-in-null-left
select id from sales where region not in (select city from customers where city is not null)

-- name: hunt/not-in-empty
select id from sales where region not in (select s from empty)

-- name: hunt/in-empty
select id from sales where region in (select s from empty)

-- name: hunt/not-in-corr
select c.name from customers c where c.segment not in (select o.status from orders o where o.customer_id = c.customer_id)

-- name: hunt/join-cond-order
select count(*) as n from orders o join customers c on c.customer_id = o.customer_id and c.name > 'Cust05' and o.quantity > 2

-- name: hunt/left-cond-both
select c.customer_id, o.order_id from customers c left join orders o on o.customer_id = c.customer_id and o.order_date > c.signup

-- name: hunt/left-neq
select count(*) as n from customers c left join orders o on o.customer_id = c.customer_id and o.amount <> c.customer_id

-- name: hunt/right-cond
select count(*) as n from orders o right join customers c on o.customer_id = c.customer_id and o.amount > 300

-- name: hunt/full-cond
select count(*) as n from orders o full join customers c on o.customer_id = c.customer_id and o.amount > c.customer_id

-- name: hunt/semi-noneq
select count(*) as n from customers c semi join orders o on o.customer_id = c.customer_id and o.amount > c.customer_id

-- name: hunt/anti-noneq
select count(*) as n from customers c anti join orders o on o.customer_id = c.customer_id and o.amount > c.customer_id

-- name: hunt/right-dup-col
select o.customer_id as oc, c.customer_id as cc from orders o right join customers c on o.customer_id = c.customer_id where o.order_id is null

-- name: hunt/right-three
select p.product_id as pp, o.product_id as op, c.name from orders o right join products p on o.product_id = p.product_id left join customers c on c.customer_id = o.customer_id

-- name: hunt/full-three
select p.name as pn, c.name as cn, o.order_id from orders o full join products p on o.product_id = p.product_id full join customers c on c.customer_id = o.customer_id

-- name: hunt/left-left-same
select a.name as a, b.name as b, c.name as c from employees a left join employees b on a.manager_id = b.emp_id left join employees c on b.manager_id = c.emp_id where a.emp_id > 20

-- name: hunt/left-same-chain-agg
select b.dept as d, count(*) as n, avg(c.salary) as s from employees a left join employees b on a.manager_id = b.emp_id left join employees c on b.manager_id = c.emp_id group by b.dept

-- name: hunt/group-alias-join
select b.dept, count(*) as n from employees a join employees b on a.manager_id = b.emp_id group by b.dept order by b.dept

-- name: hunt/group-ab
select a.dept as da, b.dept as db, count(*) as n from employees a join employees b on a.manager_id = b.emp_id group by a.dept, b.dept

-- name: hunt/group-b-unaliased-a
select a.dept, b.dept as bd, sum(b.salary) as s from employees a join employees b on a.manager_id = b.emp_id group by a.dept, b.dept order by a.dept, b.dept

-- name: hunt/having-right
select a.dept, sum(b.salary) as s from employees a join employees b on a.manager_id = b.emp_id group by a.dept having sum(b.salary) > 200000

-- name: hunt/window-right
select a.emp_id, sum(b.salary) over (partition by b.dept) as s from employees a join employees b on a.manager_id = b.emp_id

-- name: hunt/order-b-salary
select a.emp_id, b.salary from employees a join employees b on a.manager_id = b.emp_id order by b.salary nulls last, a.emp_id

-- name: hunt/order-alias-vs-col
select a.salary as x, b.salary from employees a join employees b on a.manager_id = b.emp_id order by a.salary nulls first, b.salary nulls first

-- name: hunt/using-three
select customer_id, o.order_id, p.name from orders o join customers c using (customer_id) join products p using (product_id)

-- name: hunt/using-left-sel
select customer_id, c.customer_id as cc, o.customer_id as oc from customers c left join orders o using (customer_id)

-- name: hunt/left-using-right-null
select o.order_id, customer_id from orders o left join customers c using (customer_id) where c.name is null

-- name: hunt/cross-same
select a.product_id as x, b.product_id as y from products a, products b where a.product_id < b.product_id

-- name: hunt/cross-where-eq
select count(*) as n from products a cross join products b where a.category = b.category

-- name: hunt/comma-or
select count(*) as n from orders o, products p where o.product_id = p.product_id and (p.category = 'Toys' or o.quantity > 5)

-- name: hunt/comma-where-none
select count(*) as n from customers a, products b

-- name: hunt/comma-unq-key
select count(*) as n from orders, products where orders.product_id = products.product_id and category = 'Food'

-- name: hunt/comma-self
select a.emp_id, b.emp_id as m from employees a, employees b where a.manager_id = b.emp_id and b.dept = 'Eng'

-- name: hunt/comma-then-join
select count(*) as n from customers c, orders o join products p on o.product_id = p.product_id where c.customer_id = o.customer_id

-- name: hunt/group-agg-key
select units, sum(units) as s, count(units) as c from sales group by units

-- name: hunt/group-agg-samename
select region, max(region) as region2, count(*) as n from sales group by region

-- name: hunt/alias-eq-othercol
select region as product, sum(units) as price from sales group by region

-- name: hunt/alias-swap
select product as region, region as product, count(*) as n from sales group by region, product

-- name: hunt/alias-order-swap
select product as region, region as product from sales order by region, product limit 10

-- name: hunt/alias-shadow-order
select -id as id, price from sales order by id limit 5

-- name: hunt/agg-alias-is-col
select product, sum(price) as price, avg(price) as a from sales group by product

-- name: hunt/agg-alias-where
select product, count(*) as units from sales where units > 3 group by product

-- name: hunt/having-alias-shadow
select product, count(*) as units from sales group by product having units > 30

-- name: hunt/having-or
select region, count(*) n from sales group by region having count(*) > 45 or region = 'North'

-- name: hunt/having-like
select product, count(*) n from sales group by product having product like 'W%'

-- name: hunt/having-expr
select region from sales group by region having max(price) - min(price) > 98

-- name: hunt/having-count-distinct
select customer_id from orders group by customer_id having count(distinct product_id) > 3

-- name: hunt/having-in
select region, sum(units) u from sales group by region having sum(units) in (136, 200)

-- name: hunt/groupby-bool
select price > 50 as hi, count(*) as n from sales group by price > 50

-- name: hunt/groupby-isnull
select region is null as r, count(*) as n from sales group by 1

-- name: hunt/groupby-coalesce
select coalesce(region, 'none') as region, sum(units) as u from sales group by coalesce(region, 'none')

-- name: hunt/groupby-coalesce-shadow
select coalesce(region, 'North') as region, sum(units) as u from sales group by region

-- name: hunt/groupby-coalesce-1
select coalesce(region, 'North') as region, sum(units) as u from sales group by 1

-- name: hunt/groupby-expr-two
select id % 3 as m, id % 2 as k, count(*) as n from sales group by id % 3, id % 2

-- name: hunt/groupby-expr-in-expr
select (units + 1) * 10 as x, count(*) as n from sales group by units + 1

-- name: hunt/groupby-key-arith
select units, units * 2 as d, count(*) n from sales group by units

-- name: hunt/groupby-concat
select region || '-' || product as k, sum(units) from sales group by region, product

-- name: hunt/groupby-year-sub
select y, count(*) from (select extract(year from order_date) as y from sales) t group by y

-- name: hunt/groupby-cast
select cast(price as int) as p, count(*) n from sales group by cast(price as int)

-- name: hunt/groupby-round
select round(price) as p, count(*) n from sales group by 1

-- name: hunt/groupby-case-agg
select region, case when region = 'North' then sum(units) else 0 end as u from sales group by region

-- name: hunt/groupby-lit
select 1 as one, count(*) as n from sales group by one

-- name: hunt/groupby-agg-filter-lit
select region, count(*) filter (where true) as n from sales group by region

-- name: hunt/count-filter-null
select region, count(*) filter (where units > 1000) as n from sales group by region

-- name: hunt/count-filter-arith
select region, 100.0 * count(*) filter (where price > 50) / count(*) as p from sales group by region

-- name: hunt/count-filter-empty
select count(*) filter (where x > 1) as n from empty

-- name: hunt/count-distinct-filter
select count(distinct region) filter (where price > 99999) as n from sales

-- name: hunt/count-distinct-case
select count(distinct case when price > 50 then region end) as n from sales

-- name: hunt/sum-empty-group
select region, sum(case when price > 9999 then price else null end) as s from sales group by region

-- name: hunt/sum-minus-null
select sum(units) - sum(price) as d from empty_x

-- name: hunt/avg-empty
select avg(x) as a, median(y) as m, stddev(y) as s, corr(x, y) as c from empty

-- name: hunt/corr-const
select corr(z, f) as c from nums

-- name: hunt/stddev-single
select stddev(price) as s, var_samp(price) v from sales where id = 1

-- name: hunt/covar-nulls
select covar_pop(salary, bonus) as c, covar_samp(salary, bonus) as d from employees

-- name: hunt/covar-single
select covar_samp(price, units) as c from sales where id = 100

-- name: hunt/median-even
select median(product_id) as m, quantile_cont(product_id, 0.25) as q from products where product_id < 11

-- name: hunt/quantile-disc-even
select quantile_disc(product_id, 0.5) as m, quantile_disc(product_id, 0.25) as q, quantile_disc(product_id, 0.1) r from products where product_id < 11

-- name: hunt/min-str-case
select min(s) as a, max(s) as b from texts

-- name: hunt/string-agg-nulls
select string_agg(region, ',' order by id) as s from sales where id < 20

-- name: hunt/string-agg-num
select string_agg(units, ',' order by id) as s from sales where id < 20

-- name: hunt/string-agg-order-null
select string_agg(product, ',' order by region, id) as s from sales where id < 20

-- name: hunt/string-agg-order-descnull
select string_agg(product, ',' order by region desc, id) as s from sales where id < 20

-- name: hunt/string-agg-nullsep
select region, string_agg(name, ', ' order by name) s from (select city as region, name from customers) group by region

-- name: hunt/string-agg-filter
select string_agg(name, ',' order by name) filter (where price > 30) as s from products

-- name: hunt/first-order
select first(name order by price desc) as f from products

-- name: hunt/array-agg-nulls
select array_agg(units order by id) as a from sales where id < 15

-- name: hunt/max-of-window
select max(rn) as m from (select row_number() over (partition by region order by id) as rn from sales)

-- name: hunt/win-where
select order_id, sum(amount) over (partition by status order by order_id) as s from orders where quantity > 5 order by order_id

-- name: hunt/win-over-expr
select order_id, sum(amount * quantity) over (partition by status) as s from orders

-- name: hunt/win-neg
select order_id, amount - avg(amount) over (partition by status) as d from orders

-- name: hunt/win-distinct
select distinct status, sum(amount) over (partition by status) as s from orders

-- name: hunt/win-limit
select order_id, count(*) over () as n from orders limit 5

-- name: hunt/win-order-limit
select order_id, row_number() over (order by amount desc) as r from orders order by r limit 5

-- name: hunt/win-max-lt
select order_id from (select order_id, amount, avg(amount) over () as a from orders) t where amount > a * 1.5

-- name: hunt/win-running-part-ties
select order_id, sum(amount) over (partition by status order by order_date) as s from orders

-- name: hunt/win-lead-multi-key
select order_id, lag(order_id) over (order by order_date, order_id) as p from orders

-- name: hunt/win-two-keys-desc
select order_id, row_number() over (order by status desc, order_id desc) as r from orders

-- name: hunt/win-two-keys-sum
select order_id, sum(amount) over (order by status, order_id) as s from orders

-- name: hunt/win-sum-two-keys-desc
select order_id, sum(amount) over (order by status desc, order_id desc) as s from orders

-- name: hunt/win-lag-two-desc
select order_id, lag(amount) over (order by status desc, order_id desc) as s from orders

-- name: hunt/win-first-nulls
select emp_id, first_value(salary) over (partition by dept order by salary) as f from employees

-- name: hunt/win-lastvalue-ties
select emp_id, last_value(salary) over (order by salary) as f from employees where salary is not null

-- name: hunt/win-max-string
select order_id, max(status) over (order by order_id) as m from orders

-- name: hunt/win-min-date
select order_id, min(order_date) over (partition by customer_id) as m, min(order_date) over (partition by customer_id order by order_id) as r from orders

-- name: hunt/win-sum-bool
select order_id, sum(case when status = 'shipped' then 1 else 0 end) over (order by order_id) as c from orders

-- name: hunt/win-sum-only-null
select emp_id, sum(bonus) over (order by emp_id) as s from employees

-- name: hunt/win-count-null-part
select emp_id, count(bonus) over (partition by dept) as s, sum(bonus) over (partition by dept) as t from employees

-- name: hunt/win-in-orderby-expr
select order_id, amount from orders order by sum(amount) over (partition by customer_id) desc, order_id

-- name: hunt/union-order-col
select order_id as x from orders union all select product_id as x from products order by x desc limit 7

-- name: hunt/union-coltypes
select id, price from sales union all select order_id, quantity from orders

-- name: hunt/union-bool-int
select true as a union all select 1

-- name: hunt/union-case
select 'x' as a, null as b union all select 'y', 5

-- name: hunt/union-dup-in
select units from sales where id < 5 union select units from sales where id < 5

-- name: hunt/intersect-types
select units from sales intersect select price from sales

-- name: hunt/except-floatint
select price from sales except select units from sales

-- name: hunt/union-limit-sub
select * from (select id from sales order by id limit 2) a union all select * from (select order_id from orders order by order_id limit 2) b

-- name: hunt/union-col-order
select region, product from sales where id < 4 union all select product, region from sales where id < 4

-- name: hunt/limit-no-order
select count(*) as n from (select id from sales limit 7 offset 3) t

-- name: hunt/offset-nolimit
select count(*) n from (select id from sales offset 3) t

-- name: hunt/distinct-order-other
select distinct product from sales order by lower(product), product

-- name: hunt/distinct-agg
select distinct count(*) as n from sales group by region

-- name: hunt/distinct-null
select distinct region, null as x from sales

-- name: hunt/str-between
select s from texts where s between 'a' and 'i'

-- name: hunt/in-dates-ts
select event_id from events where ts in ('2024-03-10', '2024-03-18 03:46:23.123456')

-- name: hunt/case-str-cmp
select id from sales where lower(region) = 'north' and product = 'WIDGET'

-- name: hunt/date-eq-ts
select event_id from events where ts = '2024-04-04 07:38:03'

-- name: hunt/ts-month-trunc
select count(*) as n from events where ts >= '2024-03-01' and ts < '2024-04-01'

-- name: hunt/ts-between-date-lit
select count(*) n from events where ts between date '2024-03-01' and date '2024-03-10'

-- name: hunt/ts-le-date
select count(*) n from events where ts <= '2024-03-18'

-- name: hunt/ts-bad-format
select count(*) n from events where ts > '2024/03/18'

-- name: hunt/date-vs-tsstr
select id from sales where order_date > '2024-03-01 12:00:00'

-- name: hunt/date-vs-ts
select count(*) n from sales where order_date = timestamp '2024-01-15 00:00:00'

-- name: hunt/time-between
select count(*) n from events where tod between '09:00:00' and '17:00:00'

-- name: hunt/time-lit
select count(*) n from events where tod > time '12:00:00'

-- name: hunt/cast-time-part
select ts::time as t from events

-- name: hunt/like-case
select s from texts where s like 'Hello%'

-- name: hunt/like-pct-only
select count(*) n from texts where s like '%'

-- name: hunt/like-empty
select count(*) n from texts where s like ''

-- name: hunt/like-back
select s from texts where s like 'a\\b'

-- name: hunt/like-back2
select s from texts where s like 'a\_b'

-- name: hunt/ilike-nowild
select s from texts where s ilike 'HELLO'

-- name: hunt/like-special
select count(*) n from texts where s like '%[%' or s like '%^%' or s like '%$%'

-- name: hunt/like-on-int
select id from sales where units like '1%'

-- name: hunt/like-on-date
select id from sales where order_date like '2024-03%'

-- name: hunt/upper-null
select upper(region) as u, length(region) as l from sales

-- name: hunt/length-int
select length(units) as l from sales

-- name: hunt/concat-null-all
select concat(null, null) as a, concat('a', null) as b

-- name: hunt/concat-ws-null
select concat_ws(',', null, 'a', null, 'b') as a, concat_ws(',', '', 'x') as b

-- name: hunt/replace-regex
select replace(s, '.', '-') as a, replace(s, '', 'x') as b from texts

-- name: hunt/split-empty
select split_part(s, ',', 2) as a from texts where s in ('', 'a,,c', 'x')

-- name: hunt/split-0
select split_part('a,b', ',', 0) as a

-- name: hunt/lpad-trunc
select lpad(s, 3, '*') as a, rpad(s, 3, '*') as b from texts

-- name: hunt/reverse-uni
select reverse(s) as r from texts where s like '%😀%' or s like '%ï%'

-- name: hunt/left-col
select left(s, n) as a, right(s, n) as b from texts

-- name: hunt/right-long
select right(s, 50) as a, right('abc', 5) as b from texts

-- name: hunt/strpos-uni
select strpos(s, 'ï') as p, position('語' in s) as q from texts

-- name: hunt/trim-tabs
select trim(s) as a from (select chr(9) || 'x' as s)

-- name: hunt/ltrim-chars
select ltrim(s, 'ahx') as a, rtrim(s, 'lod') as b from texts

-- name: hunt/lower-uni
select lower(s) as l from texts

-- name: hunt/cmp-upper
select count(*) n from texts where s < 'B'

-- name: hunt/coalesce-mixed
select coalesce(units, 'none') as x from sales

-- name: hunt/coalesce-int-lit
select coalesce(price, 0) as x, coalesce(units, 0.5) as y from sales

-- name: hunt/nullif-types
select nullif(units, 0) as a, nullif(price, 0) as b from sales

-- name: hunt/case-date-str
select case when order_date is null then 'none' else cast(order_date as varchar) end as d from sales

-- name: hunt/case-mixed-date
select case when units > 2 then order_date end as d from sales

-- name: hunt/float-int-eq
select count(*) n from sales where price = units

-- name: hunt/int-div-avg
select sum(units) / count(units) as a, sum(units) * 1.0 / count(*) b from sales

-- name: hunt/count-div
select count(price) / count(*) as r from sales

-- name: hunt/count-ratio-int
select count(case when price > 50 then 1 end) * 100 / count(*) as pct from sales

-- name: hunt/count-neg
select -count(*) as a from sales

-- name: hunt/count-plus-big
select count(*) * 100000000 as a from sales

-- name: hunt/count-pow
select count(*) * count(*) * count(*) * count(*) * count(*) as x from sales

-- name: hunt/length-mul
select length(s) * 1000000000 as x from texts

-- name: hunt/rn-mul
select row_number() over (order by order_id) * 100000000 as x from orders

-- name: hunt/sub-counts
select a.n - b.n as d from (select count(*) as n from orders) a cross join (select count(*) as n from sales) b

-- name: hunt/sum-of-count
select sum(n) as s from (select count(*) as n from sales group by region) t

-- name: hunt/avg-len
select avg(length(s)) as a, max(length(s)) - min(length(s)) as b from texts

-- name: hunt/strpos-minus
select strpos(s, 'l') - 3 as a from texts

-- name: hunt/extract-minus
select extract(month from order_date) - 13 as a, 2020 - extract(year from order_date) as b from orders

-- name: hunt/extract-mul
select extract(day from order_date) * 10 as a from orders

-- name: hunt/extract-eq-str
select count(*) n from orders where extract(month from order_date) = '3'

-- name: hunt/extract-sum
select sum(extract(day from order_date)) as s, avg(extract(month from order_date)) as a from orders

-- name: hunt/extract-div
select extract(month from order_date) / 2 as a, (extract(month from order_date) + 2) // 3 as q from orders

-- name: hunt/year-minus-year
select extract(year from date '2024-05-01') - extract(year from order_date) as a from sales

-- name: hunt/case-small
select sum(case when extract(month from order_date) > 6 then 1 else 0 end) as n from orders

-- name: hunt/quarter-concat
select 'Q' || cast(extract(quarter from order_date) as varchar) as q from orders

-- name: hunt/round-avg-2
select round(avg(price), 1) as a, round(sum(price * units), 0) as b from sales

-- name: hunt/round-cast
select round(price * 1.0, 2) as a, round(price / 3, 2) as b from sales

-- name: hunt/round-halfs
select round(2.5) as a, round(3.5) as b, round(0.125, 2) as c, round(-1.5) as d

-- name: hunt/round-expr
select round(units / 2) as a, round(units * 0.5) as b from sales

-- name: hunt/ceil-div
select ceil(units / 3) as a, floor(units / 3) as b from sales

-- name: hunt/abs-minint
select abs(i - 5) as a, abs(-f) as b from nums

-- name: hunt/pow-int
select power(10, 20) as a, 2 ^ 10 as b, power(i, 3) as c from nums

-- name: hunt/pow-int-overflow
select power(k, 30) as a from nums

-- name: hunt/sqrt-neg
select sqrt(f) as a from nums where f >= 0

-- name: hunt/mod-grp
select k % 5 as b, count(*) n from nums group by b

-- name: hunt/sign-type
select sign(-2.5) as a, sign(0) as b

-- name: hunt/greatest-date
select greatest(order_date, date '2024-06-01') as d from orders

-- name: hunt/greatest-str
select greatest(region, product) as d from sales

-- name: hunt/least-null
select least(units, price) as d from sales

-- name: hunt/not-int
select not (units > 3) as a from sales

-- name: hunt/bool-arith
select (price > 50)::int + (units > 3)::int as a from sales

-- name: hunt/bool-cmp-lit
select count(*) n from sales where is_online = 'true'

-- name: hunt/bool-int-cmp
select count(*) n from sales where is_online = 1

-- name: hunt/bool-order
select is_online, count(*) n from sales group by is_online order by is_online desc

-- name: hunt/neg-mod-lit
select (i % 2) as a, mod(i, 2) as b from nums where i < 0

-- name: hunt/between-rev
select count(*) n from sales where price between 50 and 10

-- name: hunt/where-sub-alias
select t.region from (select region, sum(price) as total from sales group by region) as t where t.total > 500 order by t.total desc

-- name: hunt/large-in
select count(*) n from sales where id in (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20)

-- name: hunt/in-neg
select count(*) n from sales where units in (-2, 0)

-- name: hunt/in-float
select count(*) n from sales where price in (2.5, 10.0)

-- name: hunt/in-int-float
select count(*) n from sales where units in (1.0, 2.0)

-- name: hunt/in-null-only
select count(*) n from sales where region in (null)

-- name: hunt/not-in-float
select count(*) n from sales where discount not in (0.1, 0.05)

-- name: hunt/in-bool
select count(*) n from sales where is_online in (true)

-- name: hunt/num-group-float
select discount, count(*) n from sales group by discount order by discount

-- name: hunt/empty-window
select id, row_number() over (order by x) as r, sum(y) over () as s from empty

-- name: hunt/empty-join
select count(*) n from sales s left join empty e on s.id = e.id

-- name: hunt/empty-join-inner
select count(*) n, sum(e.y) s from sales s join empty e on s.id = e.id

-- name: hunt/empty-order
select * from empty order by x desc limit 5

-- name: hunt/empty-union
select id from empty union all select id from sales where id < 3

-- name: hunt2/derived-alias-leak
select count(*) as n from (select * from sales limit 3) sales join (select id as k from sales) b on sales.id = b.k

-- name: hunt2/derived-alias-leak2
select count(*) as n from (select * from sales where id < 4) sales where sales.id in (select id from sales)

-- name: hunt2/derived-alias-leak3
select count(*) as n from (select * from customers where customer_id < 4) orders, (select order_id from orders) x

-- name: hunt2/cte-shadow-inner
with orders as (select * from orders where amount > 400) select count(*) n from customers c join orders o on o.customer_id = c.customer_id

-- name: hunt2/cte-same-as-alias
with o as (select * from orders where amount > 400) select count(*) n from o join customers o2 on o.customer_id = o2.customer_id

-- name: hunt2/alias-of-cte
with t as (select id from sales where id < 5) select count(*) n from t s join sales t2 on s.id = t2.id

-- name: hunt2/exists-noalias
select name from employees where exists (select 1 from employees m where m.manager_id = employees.emp_id)

-- name: hunt2/exists-noalias2
select name from customers where not exists (select 1 from orders where customer_id = customers.customer_id)

-- name: hunt2/nan-max
select max(f / z) as m, min(f / z) as n from nums where f is not null

-- name: hunt2/nan-gt
select count(*) as n from nums where f / z > 5

-- name: hunt2/nan-avg
select avg(i / z) as m, count(i / z) c from nums

-- name: hunt2/nan-order
select k from nums where f is not null order by f / z desc, k limit 5

-- name: hunt2/nan-group
select f / z as q, count(*) n from nums group by f / z

-- name: hunt2/lit-mul
select 100000 * 100000 as x

-- name: hunt2/lit-mul2
select 3000000000 * 2 as x

-- name: hunt2/lit-sum
select sum(1000000000) as s from nums

-- name: hunt2/sum-case-int
select sum(case when k > 0 then 100000000 else 0 end) as s from nums

-- name: hunt2/sum-cast-int
select sum(cast(k as int) * 100000000) as s from nums where k < 20

-- name: hunt2/sum-int32
select sum(cast(100000000 + k as int)) as s from nums

-- name: hunt2/avg-int32
select avg(cast(2000000000 + k as int)) as s from nums

-- name: hunt2/sum-smallint
select sum(cast(k * 500 as smallint)) as s from nums

-- name: hunt2/sum-tiny
select sum(cast(k as tinyint)) as s from nums

-- name: hunt2/running-case
select k, sum(case when k > 0 then 1000000000 else 0 end) over (order by k) as s from nums

-- name: hunt2/cast-int-range
select cast(big as int) from nums

-- name: hunt2/case-guard-cast
select tid, case when s ~ '^-?[0-9]+$' then cast(s as int) end as n from texts

-- name: hunt2/where-guard-cast
select tid from texts where s ~ '^-?[0-9]+$' and cast(s as int) > 5

-- name: hunt2/coalesce-guard
select coalesce(case when z <> 0 then i // z end, 0) as q from nums

-- name: hunt2/string-agg-distinct-noord
select string_agg(distinct region, ',') as s from sales where region = 'North'

-- name: hunt2/float-text
select h || '' as a, cast(h as varchar) as b from nums

-- name: hunt2/float-text2
select cast(price * 1000000000000 as varchar) as a, cast(price / 100000000 as varchar) b from sales

-- name: hunt2/interval-cmp
select event_id from events where end_ts - ts > interval '1 hour'

-- name: hunt2/interval-cmp2
select event_id from events where end_ts > ts + interval '2 hours'

-- name: hunt2/interval-sum
select sum(end_ts - ts) as s from events

-- name: hunt2/interval-col
select ts + interval '1 hour' * user_id as t from events

-- name: hunt2/interval-1h30
select ts + interval '1 hour 30 minutes' as t from events

-- name: hunt2/interval-weeks
select ts + interval '2 weeks' as t, ts - interval '3 months' as u, ts + interval '1 quarter' v from events

-- name: hunt2/interval-long
select ts + interval '36 hours' as t, ts + interval '1.5 hours' as u from events

-- name: hunt2/interval-left
select interval '1 day' + ts as t from events

-- name: hunt2/interval-minus2
select (ts + interval '1 month') - interval '1 month' as t from events

-- name: hunt2/cmp-date-datecol
select count(*) n from orders o join customers c on o.customer_id = c.customer_id where o.order_date > c.signup

-- name: hunt2/cmp-date-ts-cols
select count(*) n from events e, orders o where e.ts > o.order_date and o.order_id < 1005

-- name: hunt2/ts-T
select count(*) n from events where ts > '2024-03-10T12:00:00'

-- name: hunt2/ts-min
select count(*) n from events where ts > '2024-03-10 12:00'

-- name: hunt2/ts-ms
select count(*) n from events where ts > '2024-03-10 12:00:00.123'

-- name: hunt2/ts-tz
select count(*) n from events where ts > '2024-03-10 12:00:00Z'

-- name: hunt2/fmt-a
select strftime(ts, '%a %A %w %u') as x from events

-- name: hunt2/fmt-d
select strftime(ts, '%d|%-d|%e') as x from events

-- name: hunt2/fmt-b
select strftime(ts, '%b %B %m %-m %y %Y') as x from events

-- name: hunt2/fmt-h
select strftime(ts, '%H|%-H|%I|%-I|%p|%M|%-M|%S|%-S') as x from events

-- name: hunt2/fmt-g
select strftime(ts, '%g') as x from events

-- name: hunt2/fmt-n
select strftime(ts, '%n') as x from events

-- name: hunt2/fmt-j
select strftime(ts, '%j|%-j') as x from events

-- name: hunt2/fmt-U
select strftime(ts, '%U|%W|%V|%G') as x from events

-- name: hunt2/fmt-c
select strftime(ts, '%c') as x from events

-- name: hunt2/fmt-x
select strftime(ts, '%x|%X') as x from events

-- name: hunt2/fmt-F
select strftime(ts, '%F %T') as x from events

-- name: hunt2/fmt-pct
select strftime(ts, '100%%') as x from events

-- name: hunt2/fmt-date-hms
select strftime(order_date, '%Y-%m-%d %H:%M') as x from orders

-- name: hunt2/fmt-rev
select strftime('%Y', ts) as x from events

-- name: hunt2/sp-1
select strptime('03/04/2024', '%m/%d/%Y') as x

-- name: hunt2/sp-2
select strptime('2024-03-04 05:06:07', '%Y-%m-%d %H:%M:%S') as x

-- name: hunt2/sp-3
select strptime('4 Mar 2024', '%d %b %Y') as x

-- name: hunt2/sp-4
select strptime('20240304', '%Y%m%d') as x

-- name: hunt2/sp-5
select strptime('4/3/24', '%d/%m/%y') as x

-- name: hunt2/sp-6
select strptime('2024-03-04 05:06 PM', '%Y-%m-%d %I:%M %p') as x

-- name: hunt2/sp-7
select strptime('2024-03-04 05:06:07.5', '%Y-%m-%d %H:%M:%S.%f') as x

-- name: hunt2/sp-8
select strptime('March 4, 2024', '%B %d, %Y') as x

-- name: hunt2/sp-cast
select strptime('15/02/2024', '%d/%m/%Y')::date as d

-- name: hunt2/sp-col
select strptime(s, '%Y-%m-%d')::date as d from texts where s = '2024-01-15'

-- name: hunt2/dp-names
select date_part('day', ts) a, date_part('hour', ts) b, date_part('minute', ts) c, date_part('second', ts) d, date_part('doy', ts) e, date_part('isodow', ts) f, date_part('epoch', ts) g from events

-- name: hunt2/dp-isoyear
select date_part('isoyear', date '2024-12-30') a, date_part('century', date '2000-06-01') b, date_part('decade', date '1999-06-01') c, date_part('millennium', date '2000-06-01') d

-- name: hunt2/dow-ts
select extract(dow from ts) as d, count(*) n from events group by 1

-- name: hunt2/win-two-over
select id, sum(price) over (partition by region order by id) / sum(price) over (partition by region) as f from sales where id > 5

-- name: hunt2/win-nested-case
select order_id, case when lag(amount) over (order by order_id) < amount then 1 else 0 end as up from orders

-- name: hunt2/win-sum-case-lag
select sum(up) as s from (select case when lag(amount) over (order by order_id) < amount then 1 else 0 end as up from orders) t

-- name: hunt2/gap-islands
select min(order_date) a, count(*) n from (select order_date, row_number() over (order by order_date) as rn from (select distinct order_date from orders) x) t group by order_date - cast(rn as int)

-- name: hunt2/sessions
select user_id, sum(new) as sessions from (select user_id, case when ts - lag(ts) over (partition by user_id order by ts) > interval '30 minutes' or lag(ts) over (partition by user_id order by ts) is null then 1 else 0 end as new from events where ts is not null) t group by user_id

-- name: hunt2/first-purchase
select customer_id, min(order_date) as first_d, max(order_date) as last_d, count(*) as n, sum(amount) as total, avg(amount) as aov from orders where customer_id is not null group by customer_id order by total desc limit 10

-- name: hunt2/rfm
select customer_id, date '2025-01-01' - max(order_date) as recency, count(*) as freq from orders group by customer_id

-- name: hunt2/abc
select product_id, sum(amount) as s, sum(sum(amount)) over (order by sum(amount) desc) / sum(sum(amount)) over () as cum from orders group by product_id

-- name: hunt2/pct-of-parent
select p.category, p.name, sum(o.amount) s, sum(o.amount) / sum(sum(o.amount)) over (partition by p.category) as sh from orders o join products p using (product_id) group by p.category, p.name

-- name: hunt2/count-distinct-two
select count(distinct region) a, count(distinct product) b, count(distinct id) c from sales

-- name: hunt2/min-by-cat
select category, min(price), max(price), count(*) from products group by category order by category

-- name: hunt2/where-in-group-having
select region, count(*) from sales where product in ('Widget','Gizmo') group by region having count(*) >= 10 order by count(*) desc, region

-- name: hunt2/not-between-null
select count(*) n from sales where not (price between 10 and 20)

-- name: hunt2/ne-null-col
select count(*) n from sales where region <> product

-- name: hunt2/eq-cols-null
select count(*) n from employees where bonus = bonus

-- name: hunt2/in-col-list
select count(*) n from sales where 'North' in (region, product)

-- name: hunt2/lit-in
select count(*) n from sales where 3 in (units, id)

-- name: hunt2/null-concat-ws
select count(*) n from sales where concat(region, product) like 'North%'

-- name: hunt2/or-null
select count(*) n from sales where region = 'North' or null

-- name: hunt2/not-exists-empty
select count(*) n from sales s where not exists (select 1 from empty e where e.id = s.id)

-- name: hunt2/agg-distinct-star
select count(*) n from (select distinct * from sales)

-- name: hunt2/sum-neg-zero
select sum(-0.0) as s, -0.0 as z

-- name: hunt2/join-date-str
select count(*) n from orders o join texts t on cast(o.order_date as varchar) = t.s

-- name: hunt2/join-coalesce
select count(*) n from sales a join sales b on coalesce(a.region, 'x') = coalesce(b.region, 'x') where a.id < 20 and b.id < 20

-- name: hunt2/join-upper
select count(*) n from sales s join (select distinct product from sales) p on upper(s.product) = upper(p.product)

-- name: hunt2/join-const-left
select count(*) n from sales s left join products p on s.product = p.name and 1 = 1

-- name: hunt2/join-lit-eq
select count(*) n from sales s join products p on p.product_id = 3

-- name: hunt2/left-where-right
select count(*) n from customers c left join orders o on c.customer_id = o.customer_id where o.status = 'shipped' or o.status is null

-- name: hunt2/left-join-two-conds
select count(*) n from employees e left join employees m on e.manager_id = m.emp_id and e.dept = m.dept

-- name: hunt2/left-join-null-both
select count(*) n, count(b.id) c from sales a left join sales b on a.region = b.region and a.units = b.units

-- name: hunt2/right-join-agg
select p.name, count(o.order_id) n from orders o right join products p on o.product_id = p.product_id group by p.name

-- name: hunt2/right-join-same
select p.product_id, count(o.order_id) n from orders o right join products p on o.product_id = p.product_id group by p.product_id

-- name: hunt2/full-group
select coalesce(a.k, b.k) as k, a.n as an, b.n as bn from (select region as k, count(*) as n from sales group by region) a full outer join (select city as k, count(*) as n from customers group by city) b on a.k = b.k

-- name: hunt2/self-left-agg
select m.name, count(e.emp_id) as reports from employees m left join employees e on e.manager_id = m.emp_id group by m.name

-- name: hunt2/self-left-agg2
select m.emp_id, m.name, count(e.emp_id) as reports, avg(e.salary) as s from employees m left join employees e on e.manager_id = m.emp_id group by m.emp_id, m.name order by reports desc, m.emp_id

-- name: hunt2/self-max
select e.name, e.salary, m.salary as ms from employees e join employees m on e.manager_id = m.emp_id order by e.salary desc nulls last, m.salary desc nulls last, e.emp_id limit 5

-- name: hunt2/self-where
select e.name from employees e join employees m on e.manager_id = m.emp_id where e.salary > m.salary and m.dept = 'Eng'

-- name: hunt2/self-case
select e.name, case when e.salary > m.salary then 'more' else 'less' end as c from employees e join employees m on e.manager_id = m.emp_id

-- name: hunt2/self-sum-diff
select sum(e.salary - m.salary) as d from employees e join employees m on e.manager_id = m.emp_id

-- name: hunt2/self-distinct
select count(distinct m.name) as n from employees e join employees m on e.manager_id = m.emp_id

-- name: hunt2/self-func
select upper(m.name) as u from employees e join employees m on e.manager_id = m.emp_id

-- name: hunt2/self-group-fn
select upper(m.dept) as u, count(*) n from employees e join employees m on e.manager_id = m.emp_id group by upper(m.dept)

-- name: hunt2/self-order-fn
select e.emp_id from employees e join employees m on e.manager_id = m.emp_id order by length(m.name), m.name desc, e.emp_id

-- name: hunt2/self-having
select m.dept, count(*) n from employees e join employees m on e.manager_id = m.emp_id group by m.dept having m.dept = 'Eng'

-- name: hunt2/self-in-sub
select e.name from employees e join employees m on e.manager_id = m.emp_id where m.emp_id in (select manager_id from employees where salary > 80000)

-- name: hunt2/self-in-sub2
select e.name from employees e join employees m on e.manager_id = m.emp_id where m.dept in (select dept from employees where salary > 100000)

-- name: hunt2/self-not-in
select e.name from employees e join employees m on e.manager_id = m.emp_id where m.dept not in ('Eng')

-- name: hunt2/self-between
select count(*) n from employees e join employees m on e.manager_id = m.emp_id where m.salary between 50000 and 80000

-- name: hunt2/self-isnull
select count(*) n from employees e left join employees m on e.manager_id = m.emp_id where m.emp_id is null

-- name: hunt2/self-coalesce
select e.name, coalesce(m.name, 'none') mname from employees e left join employees m on e.manager_id = m.emp_id

-- name: hunt2/self-concat
select e.name || ' -> ' || m.name as x from employees e join employees m on e.manager_id = m.emp_id

-- name: hunt2/self-window
select e.emp_id, rank() over (partition by m.dept order by e.emp_id) r from employees e join employees m on e.manager_id = m.emp_id

-- name: hunt2/self-like
select count(*) n from employees e join employees m on e.manager_id = m.emp_id where m.name like 'A%'

-- name: hunt2/self-extract
select count(*) n from employees e join employees m on e.manager_id = m.emp_id where extract(year from m.hire_date) = 2015 and e.hire_date > m.hire_date

-- name: hunt2/self-datecmp
select count(*) n from employees e join employees m on e.manager_id = m.emp_id where m.hire_date > '2016-01-01'

-- name: hunt2/self-datein
select count(*) n from employees e join employees m on e.manager_id = m.emp_id where m.hire_date in ('2015-04-08')

-- name: hunt2/self-not
select count(*) n from employees e join employees m on e.manager_id = m.emp_id where not (m.salary > 60000)

-- name: hunt2/three-same-sum
select sum(a.salary) x, sum(b.salary) y, sum(c.salary) z from employees a join employees b on a.manager_id = b.emp_id join employees c on b.manager_id = c.emp_id

-- name: hunt2/three-same-where
select a.emp_id from employees a join employees b on a.manager_id = b.emp_id join employees c on b.manager_id = c.emp_id where c.salary > a.salary

-- name: hunt2/three-names
select o.order_id, c.name as cn, p.name as pn, e.name as en from orders o join customers c on o.customer_id = c.customer_id join products p on o.product_id = p.product_id join employees e on e.emp_id = o.quantity

-- name: hunt2/three-names-on
select count(*) n from customers c join products p on c.customer_id = p.product_id join employees e on e.name = p.name

-- name: hunt2/three-on-third
select count(*) n from employees a join employees b on a.manager_id = b.emp_id join employees c on c.dept = b.dept

-- name: hunt2/three-on-third2
select count(*) n from employees a join employees b on a.manager_id = b.emp_id join employees c on b.dept = c.dept and a.dept = c.dept

-- name: hunt2/three-on-noneq
select count(*) n from employees a join employees b on a.manager_id = b.emp_id join employees c on c.salary > b.salary

-- name: hunt2/three-left-third
select count(*) n, count(c.emp_id) k from employees a left join employees b on a.manager_id = b.emp_id left join employees c on b.manager_id = c.emp_id

-- name: hunt2/four-left
select a.name a, b.name b, c.name c, d.name d from employees a left join employees b on a.manager_id = b.emp_id left join employees c on b.manager_id = c.emp_id left join employees d on c.manager_id = d.emp_id

-- name: hunt2/comma-three-same
select count(*) n from employees a, employees b, employees c where a.manager_id = b.emp_id and b.manager_id = c.emp_id

-- name: hunt2/comma-noneq
select count(*) n from products a, products b where a.price < b.price and a.category = b.category

-- name: hunt2/comma-mixed-filter
select count(*) n from employees a, employees b where a.manager_id = b.emp_id and b.salary > 60000 and a.dept is not null

-- name: hunt2/derived-join-same
select a.region, a.s, b.s as s2 from (select region, sum(price) s from sales group by region) a join (select region, sum(units) s from sales group by region) b on a.region = b.region order by b.s desc

-- name: hunt2/cte-join-same
with a as (select region, count(*) n from sales group by region), b as (select region, count(*) n from sales where price > 50 group by region) select a.region, b.n * 100.0 / a.n as pct from a join b on a.region = b.region order by pct desc

-- name: hunt2/cte-left-same
with a as (select product, count(*) n from sales group by product), b as (select product, count(*) n from sales where price > 90 group by product) select a.product, a.n, coalesce(b.n, 0) as m from a left join b on a.product = b.product

-- name: hunt3/sum-lit-group
select region, sum(1) as n from sales group by region

-- name: hunt3/sum-lit-plain
select sum(1) as n from sales

-- name: hunt3/avg-lit
select region, avg(1.0) as n, max(1) m, min('x') x from sales group by region

-- name: hunt3/sum-lit-win
select id, sum(1) over (partition by region) as n from sales

-- name: hunt3/sum-lit-win-order
select id, sum(1) over (order by id) as n from sales where id > 5

-- name: hunt3/sum-lit-filter
select region, sum(1) filter (where price > 50) as n from sales group by region

-- name: hunt3/count-distinct-lit
select count(distinct 1) as n from sales

-- name: hunt3/stragg-lit
select string_agg('x', ',') as n from sales where id < 4

-- name: hunt3/lit-from
select 1 as v, 'a' as w from sales where id < 5

-- name: hunt3/lit-order
select 1 as v, id from sales where id < 5 order by v, id

-- name: hunt3/lit-only-order
select 'a' as v from sales where id < 5 order by id

-- name: hunt3/agg-lit-mix
select count(*) as n, 1 as one, 'x' as x, sum(units) + 1 as s from sales

-- name: hunt3/agg-expr-lit
select max(units) * 2 + min(id) - 1 as s, 1 + 1 as two from sales

-- name: hunt3/agg-order-lit
select count(*) as n, 1 as one from sales order by one

-- name: hunt3/case-agg-nogroup
select case when count(*) > 100 then 'many' else 'few' end as c from sales

-- name: hunt3/coalesce-agg-nogroup
select coalesce(sum(x), 0) as s, coalesce(max(d), date '2000-01-01') as d from empty

-- name: hunt3/round-agg
select round(sum(price), 2) a, round(avg(units), 3) b from sales where region = 'North'

-- name: hunt3/mixed-agg-col-err
select region, count(*) from sales

-- name: hunt3/group-missing
select region, product, count(*) from sales group by region

-- name: hunt3/case-int-arith
select id, (case when units > 3 then 1 else 0 end) * 3000000000 as x from sales

-- name: hunt3/case-int-sum-mul
select sum(case when units > 3 then 1 else 0 end) * 3000000000 as x from sales

-- name: hunt3/int32-mul
select cast(units as int) * 2000000000 as x from sales where units < 2

-- name: hunt3/year-mul
select year * 10000 + "Order" as x from odd

-- name: hunt3/in-sub-float
select count(*) n from sales where units in (select price from products)

-- name: hunt3/in-sub-date
select count(*) n from orders where order_date in (select cast(ts as date) from events)

-- name: hunt3/in-sub-ts-date
select count(*) n from events where ts in (select order_date from orders)

-- name: hunt3/join-date-ts
select count(*) n from events e join orders o on cast(e.ts as date) = o.order_date

-- name: hunt3/join-date-ts2
select count(*) n from events e join orders o on e.ts = o.order_date

-- name: hunt3/join-int-str
select count(*) n from orders o join texts t on cast(o.quantity as varchar) = t.s

-- name: hunt3/in-sub-expr
select count(*) n from sales where lower(product) in (select lower(name) from products)

-- name: hunt3/in-sub-agg
select count(*) n from sales where price in (select max(price) from sales group by region)

-- name: hunt3/in-sub-distinct
select count(*) n from customers where customer_id in (select distinct customer_id from orders)

-- name: hunt3/in-sub-union
select count(*) n from customers where customer_id in (select customer_id from orders union select product_id from products)

-- name: hunt3/not-in-sub-group
select count(*) n from customers where customer_id not in (select customer_id from orders group by customer_id)

-- name: hunt3/not-in-sub-union
select count(*) n from customers where customer_id not in (select customer_id from orders where customer_id is not null union all select 3)

-- name: hunt3/in-sub-twice
select count(*) n from customers where customer_id in (select customer_id from orders where amount > 300) and customer_id not in (select customer_id from orders where amount < 20 and customer_id is not null)

-- name: hunt3/in-sub-or-null
select count(*) n from customers where customer_id in (select customer_id from orders) or city is null

-- name: hunt3/not-in-or
select count(*) n from customers where customer_id not in (select customer_id from orders) or city = 'Paris'

-- name: hunt3/isnan
select count(*) n from nums where f / z > 1.0/0.0

-- name: hunt3/min-nan
select min(i / z) m from nums where i = 0

-- name: hunt3/median-nan
select median(f / z) m from nums where f is not null

-- name: hunt3/sum-float-order
select sum(h) s from nums

-- name: hunt3/distinct-case
select distinct case when price > 50 then 'hi' else 'lo' end as b from sales order by b

-- name: hunt3/concat-date
select 'on ' || order_date as x, concat('at ', ts) y from orders, events where order_id = 1000

-- name: hunt3/order-date-str
select order_date from orders order by strftime(order_date, '%m-%d'), order_date

-- name: hunt3/limit-in-cte
with t as (select * from orders order by amount desc limit 10) select status, count(*) n, sum(amount) s from t group by status

-- name: hunt3/offset-in-cte
with t as (select * from orders order by amount desc limit 10 offset 5) select sum(amount) s from t

-- name: hunt3/cte-order-lost
with t as (select * from orders order by amount desc) select order_id from t limit 3

-- name: hunt3/top-n-sub
select * from (select order_id, amount from orders order by amount desc limit 3) t order by amount

-- name: hunt3/union-limit-in
(select order_id from orders order by amount desc limit 2) union all (select order_id from orders order by amount limit 2)

-- name: hunt3/having-window
select region, count(*) n from sales group by region having count(*) > (select avg(n) from (select count(*) n from sales group by region) t)

-- name: hunt3/distinct-on-nulls
select distinct on (region) region, price from sales order by region, price desc, id

-- name: hunt3/nullif-div
select region, sum(price) / nullif(sum(case when units > 100 then 1 else 0 end), 0) r from sales group by region

-- name: hunt3/int-ratio
select region, sum(case when is_online then 1 else 0 end) / count(*) as r from sales group by region

-- name: hunt3/int-ratio2
select region, sum(case when is_online then 1 else 0 end) * 100 / count(*) as r from sales group by region

-- name: hunt3/avg-bool-case
select region, avg(case when is_online then 1 else 0 end) as r from sales group by region

-- name: hunt3/avg-of-bool
select avg(cast(is_online as double)) as r from sales

-- name: hunt3/count-case-else
select count(case when price > 50 then 1 else 0 end) as n, count(case when price > 50 then 1 else null end) m from sales

-- name: hunt3/sum-if
select sum(if(price > 50, 1, 0)) as n from sales

-- name: hunt3/iff-null
select if(price > 50, 'a', 'b') as x from sales

-- name: hunt3/neg-limit-order
select id from sales order by -id limit 5

-- name: hunt3/order-2-dirs
select region, product, id from sales order by region desc, product asc, id desc limit 30

-- name: hunt3/order-nulls-mixed
select region, units, id from sales order by region nulls first, units desc nulls last, id limit 60

-- name: hunt3/agg-min-time
select min(tod) a, max(tod) b from events

-- name: hunt3/group-time
select tod, count(*) n from events group by tod

-- name: hunt3/bool-group-agg
select ok, count(*) n, avg(val) a from events group by ok

-- name: hunt3/bool-eq-false
select count(*) n from events where ok = false

-- name: hunt3/bool-neq
select count(*) n from events where ok <> true

-- name: hunt3/bool-and-null
select count(*) n from events where ok and val > 0

-- name: hunt3/bool-case
select sum(case when ok then 1 when not ok then 0 end) s from events

-- name: hunt3/corr-sub-in-where-and
select o.order_id from orders o where o.status = 'shipped' and o.amount > (select avg(o2.amount) from orders o2 where o2.status = 'shipped')

-- name: hunt3/ts-group-month
select strftime(ts, '%Y-%m') m, count(*) n from events group by 1 order by 1

-- name: hunt3/ts-hour-group
select extract(hour from ts) h, count(*) n from events group by extract(hour from ts) order by h

-- name: hunt3/date-ge-lt
select count(*) n from orders where order_date >= '2024-03-01' and order_date < '2024-04-01'

-- name: hunt3/date-cast-eq
select count(*) n from orders where cast(order_date as varchar) like '2024-03%'

-- name: hunt3/date-year-str
select count(*) n from orders where strftime(order_date, '%Y') = '2024'

-- name: hunt3/date-str-eq-int
select count(*) n from orders where strftime(order_date, '%m')::int = 3

-- name: hunt3/ts-trunc-eq
select count(*) n from events where cast(ts as date) = '2024-03-10' or ts::date = date '2024-03-11'

-- name: hunt3/date-in-list-typed
select count(*) n from orders where order_date in (date '2024-03-01', date '2024-03-02')

-- name: hunt3/date-not-in
select count(*) n from orders where order_date not in ('2024-03-01', '2024-03-02')

-- name: hunt3/date-max-group
select status, max(order_date) m from orders group by status having max(order_date) > '2024-06-01'

-- name: hunt3/date-case-cmp
select case when order_date < '2024-07-01' then 'H1' else 'H2' end h, sum(amount) s from orders group by h

-- name: hunt3/date-alias-cmp
select count(*) n from (select order_date as d from orders) t where t.d > '2024-06-01'

-- name: hunt3/date-qual-cmp
select count(*) n from orders o where o.order_date > '2024-06-01'

-- name: hunt3/date-join-cmp
select count(*) n from customers c join orders o on c.customer_id = o.customer_id where o.order_date > '2024-06-01' and c.signup < '2022-06-01'

-- name: hunt3/ts-minus-days
select count(*) n from events where ts > timestamp '2024-04-01 00:00:00' - interval '7 days'

-- name: hunt3/date-between-expr
select count(*) n from orders where order_date between date '2024-03-01' and date '2024-03-01' + interval '1 month'

-- name: hunt4/order-0
select id from sales order by 0

-- name: hunt4/group-0
select region from sales group by 0

-- name: hunt4/limit-huge
select count(*) n from (select id from sales limit 5000000000) t

-- name: hunt4/limit-all
select id from sales limit all

-- name: hunt4/limit-null
select id from sales limit null

-- name: hunt4/limit-neg
select id from sales limit -1

-- name: hunt4/offset-huge
select id from sales offset 1000000

-- name: hunt4/columns-badre
select columns('(') from sales

-- name: hunt4/bare-col-agg
select id, max(price) from sales

-- name: hunt4/bare-fn-group
select region, upper(product) from sales group by region

-- name: hunt4/bare-arith-group
select region, price + 1 from sales group by region

-- name: hunt4/bare-col-having
select region from sales group by region having price > 10

-- name: hunt4/bare-order-group
select region from sales group by region order by price

-- name: hunt4/agg-in-where
select region from sales where count(*) > 5 group by region

-- name: hunt4/agg-in-group
select sum(price) from sales group by sum(price)

-- name: hunt4/nested-agg
select max(sum(price)) from sales group by region

-- name: hunt4/win-in-where
select id from sales where row_number() over (order by id) < 5

-- name: hunt4/scalar-2col
select (select id, price from sales limit 1)

-- name: hunt4/unknown-col
select nope from sales

-- name: hunt4/unknown-tab
select 1 from nope

-- name: hunt4/ambig
select name from customers c join products p on c.customer_id = p.product_id

-- name: hunt4/ambig-where
select c.customer_id from customers c join products p on c.customer_id = p.product_id where name = 'x'

-- name: hunt4/ambig-order
select c.customer_id from customers c join products p on c.customer_id = p.product_id order by name

-- name: hunt4/ambig-group
select count(*) n from customers c join products p on c.customer_id = p.product_id group by name

-- name: hunt4/ambig-having
select c.city, count(*) n from customers c join products p on c.customer_id = p.product_id group by c.city having max(name) > 'a'

-- name: hunt4/ambig-on
select count(*) n from customers c join products p on customer_id = product_id and name = name

-- name: hunt4/trunc-n
select trunc(f, 1) as a from nums

-- name: hunt4/trim-ws
select trim(x) as t, ltrim(x) l, rtrim(x) r from (select E'\t x \n' as x)

-- name: hunt4/trim-nbsp
select length(trim(s)) as t from texts where s like '% %'

-- name: hunt4/cot0
select atan2(1, 0) a, cos(0) b, sin(1) c, tan(1) d, acos(1) e

-- name: hunt4/cbrt
select cbrt(27) a, cbrt(-8) b

-- name: hunt4/sign0
select sign(f) a, sign(i) b from nums

-- name: hunt4/ceil-neg0
select ceil(-0.5) a, floor(-0.5) b

-- name: hunt4/exp-over
select exp(1000) a

-- name: hunt4/log-neg
select ln(f) a from nums where f < 0

-- name: hunt4/sqrt-neg
select sqrt(f) a from nums where f < 0

-- name: hunt4/bit-and-agg
select bit_and(units) a, bit_or(units) b from sales where units > 0

-- name: hunt4/lower-tr
select lower('İ') a, upper('ı') b

-- name: hunt4/starts-null
select starts_with(region, 'N') a from sales

-- name: hunt4/like-null
select region like 'N%' a, region not like 'N%' b from sales

-- name: hunt4/between-null
select price between 10 and 20 a from sales

-- name: hunt4/in-null-sel
select units in (1, null) a, units not in (1, null) b from sales

-- name: hunt4/in-list-null-op
select null in (1, 2) a, null in (1, null) b

-- name: hunt4/greatest-null
select greatest(units, price) a, least(units, null, 3) b from sales

-- name: hunt4/case-null-cond
select case when units > 3 then 'a' when units <= 3 then 'b' else 'n' end c from sales

-- name: hunt4/case-simple-types
select case units when 1 then 'one' when 2.0 then 'two' end c from sales

-- name: hunt4/coalesce-str-null
select coalesce(null, region, 'z') c from sales

-- name: hunt4/nullif-str
select nullif(region, product) c from sales

-- name: hunt4/xor-null
select is_online is distinct from true a from sales

-- name: hunt4/concat-many
select region || ' ' || product || ' ' || id c from sales

-- name: hunt4/rep-null
select replace(region, 'o', null) c from sales

-- name: hunt4/split-null
select split_part(region, 'o', 1) c from sales

-- name: hunt4/lpad-null
select lpad(region, 10, '-') c, rpad(region, 2, '-') d from sales

-- name: hunt4/left-big
select left(s, 100) c, substr(s, 2, 100) d, substr(s, 100) e from texts

-- name: hunt4/substr-0
select substring(s, 0, 2) c from texts

-- name: hunt4/reverse-null
select reverse(region) c from sales

-- name: hunt4/upper-expr-order
select distinct upper(region) u from sales order by u desc

-- name: hunt4/string-ge
select count(*) n from sales where product >= 'Gizmo' and product < 'Widget'

-- name: hunt4/cast-str-float
select cast('1.5' as double) + 1 a, '2'::bigint * 3 b

-- name: hunt4/cast-float-bool
select cast(price as boolean) a, cast(0 as boolean) b from sales

-- name: hunt4/cast-bool-str
select cast(is_online as varchar) a from sales

-- name: hunt4/cast-date-ts
select cast(order_date as timestamp) a, cast(ts as date) b from orders, events where order_id = 1001

-- name: hunt4/cast-ts-time
select cast(ts as time) a from events

-- name: hunt4/cast-int-date
select cast('2024-03-01' as date) + 1 a

-- name: hunt4/cast-empty
select try_cast('' as int) a, try_cast(' 5' as int) b, try_cast('+5' as int) c, try_cast('5.' as double) d, try_cast('1,000' as int) e

-- name: hunt4/cast-str-date-formats
select try_cast('2024/03/01' as date) a, try_cast('01-03-2024' as date) b, try_cast('2024-3-1' as date) c

-- name: hunt4/cast-str-ts-formats
select try_cast('2024-03-01' as timestamp) a, try_cast('2024-03-01 10:20' as timestamp) b, try_cast('2024-03-01T10:20:30' as timestamp) c

-- name: hunt4/cast-str-date-time
select try_cast('2024-03-01 10:20:30' as date) a

-- name: hunt4/cast-col-double
select try_cast(s as double) a from texts

-- name: hunt4/cast-col-bool
select try_cast(s as boolean) a from texts

-- name: hunt4/cast-decimal-round
select cast(price as decimal(10,1)) a, cast(f as decimal(5,1)) b from sales, nums where sales.id = 3

-- name: hunt4/cast-decimal-div
select cast(10 as decimal(10,2)) / 3 a, cast(1 as decimal(4,2)) * 2.5 b

-- name: hunt4/cast-decimal-sum
select sum(cast(price as decimal(18,2))) a, avg(cast(price as decimal(18,2))) b from sales

-- name: hunt4/cast-real
select cast(price as real) a, cast(0.1 as float) b from sales

-- name: hunt4/dec-col-mul
select cast(price as decimal(10,2)) * units a from sales

-- name: hunt4/numeric-round
select round(sum(price)::numeric, 2) a, round(avg(price)::numeric, 2) b from sales

-- name: hunt4/numeric-round-g
select region, round(avg(price)::numeric, 2) b, round((sum(price) / count(*))::numeric, 1) c from sales group by region

-- name: hunt4/median-date
select median(order_date) m from orders

-- name: hunt4/avg-date
select avg(order_id) m, sum(order_id) s from orders

-- name: hunt4/quantile-int
select quantile_cont(quantity, 0.5) a, quantile_cont(quantity, 0.75) b, median(quantity) c from orders

-- name: hunt4/stddev-int
select stddev(quantity) a, var_pop(quantity) b from orders

-- name: hunt4/count-all-null
select count(bonus) a, count(distinct bonus) b, sum(bonus) c from employees where bonus is null

-- name: hunt4/distinct-agg-null-group
select dept, count(distinct bonus) n from employees group by dept

-- name: hunt4/max-null-group
select dept, max(bonus) m, min(manager_id) k from employees group by dept

-- name: hunt4/first-last
select first(emp_id) a, last(emp_id) b from employees

-- name: hunt4/setop-prec
select 1 a union all select 1 intersect select 1

-- name: hunt4/union-null-first
select null as a union all select 1

-- name: hunt4/union-date-null
select null as d union all select order_date from orders where order_id < 1003

-- name: hunt4/union-str-date
select 'x' as d union all select order_date from orders where order_id < 1003

-- name: hunt4/except-dups
select region from sales except select 'x'

-- name: hunt4/intersect-3
select region from sales intersect select region from sales where price > 50 intersect select 'North'

-- name: hunt4/union-order-expr
select region, units from sales union all select product, units from sales order by units desc, region limit 4

-- name: hunt4/union-in-cte-order
with u as (select region as k, price as v from sales union all select product, price from sales) select k, sum(v) s from u group by k order by s desc

-- name: hunt4/values-null-first
select * from (values (null, 1), ('a', 2)) t(x, y)

-- name: hunt4/values-dates
select * from (values (date '2024-01-01', 1)) t(d, y)

-- name: hunt4/values-mixed-null
select sum(x) s from (values (1), (null), (3)) t(x)

-- name: hunt4/values-strnum
select * from (values (1), ('a')) t(x)

-- name: hunt4/three-valued-join
select count(*) n from sales a join sales b on a.price > b.price where a.id < 30 and b.id < 30

-- name: hunt4/semi-null
select count(*) n from sales s semi join (select city as region from customers) c on s.region = c.region

-- name: hunt4/anti-null
select count(*) n from sales s anti join (select 'North' as region) c on s.region = c.region

-- name: hunt4/exists-null
select count(*) n from sales s where exists (select 1 from sales t where t.region = s.region and t.id = s.id + 1)

-- name: hunt4/count-over-filter
select id, count(*) filter (where price > 50) over (partition by region) c from sales

-- name: hunt4/sum-over-null-part
select id, sum(price) over (partition by region, product) s from sales

-- name: hunt4/win-over-dup-order
select id, first_value(product) over (partition by region order by id) f, last_value(product) over (partition by region order by id rows between unbounded preceding and unbounded following) l from sales where id > 5

-- name: hunt4/win-min-default-ties
select order_id, min(amount) over (partition by status order by order_date) m from orders

-- name: hunt4/win-order-by-alias
select product, sum(units) as u, rank() over (order by u desc) r from sales group by product

-- name: hunt4/win-avg-moving-part
select id, avg(price) over (partition by region order by id rows between 1 preceding and current row) m from sales where id > 5

-- name: hunt4/win-count-distinct-order
select order_id, sum(quantity) over (partition by status order by order_id) / sum(quantity) over (partition by status) r from orders

-- name: null/distinct_and
select id from sales where region is distinct from 'North' and is_online

-- name: null/distinct_or
select id from sales where is_online is distinct from true or region is not distinct from null or units > 40

-- name: null/distinct_bool
select id, is_online is distinct from (discount is null) and units > 10 as a, is_online is not distinct from true or price > 50 as b from sales

-- name: null/distinct_arithmetic
select id from sales where units is distinct from id + 1 and price is not distinct from price * 1

-- name: case/many_that_can_fail
select k, case when i * 20 > j * 1 then i * 2 when i * 20 > j * 2 then i * 3 when i * 20 > j * 3 then i * 4 when i * 20 > j * 4 then i * 5 when i * 20 > j * 5 then i * 6 when i * 20 > j * 6 then i * 7 when i * 20 > j * 7 then i * 8 when i * 20 > j * 8 then i * 9 when i * 20 > j * 9 then i * 10 when i * 20 > j * 10 then i * 11 when i * 20 > j * 11 then i * 12 when i * 20 > j * 12 then i * 13 else i // nullif(z, 0) end as a from nums
