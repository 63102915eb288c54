-- The roll-ups of ${name}, for Spark 3.4 or later: views over files, which stay where they are.

CREATE OR REPLACE TEMPORARY VIEW fleet_all_manifests (files array<struct<name:string,level:string>>, covered map<string,array<array<bigint>>>)
USING json OPTIONS (path ${quoted rollups/manifests}, multiLine 'true');

-- The manifest that counts, of each day and service: the one with the highest number, up to 999,999.
CREATE OR REPLACE TEMPORARY VIEW fleet_manifests AS
SELECT date, service, files, covered FROM (
  SELECT *, row_number() OVER (PARTITION BY date, service ORDER BY path DESC) AS place
  FROM (SELECT regexp_extract(input_file_name(), 'date=([^/]+)/', 1) AS date, regexp_extract(input_file_name(), 'service=([^/]+)/', 1) AS service,
    input_file_name() AS path, files, covered FROM fleet_all_manifests)
  WHERE path LIKE '%/00______.json')
WHERE place = 1;

CREATE OR REPLACE TEMPORARY VIEW fleet_files AS
SELECT date, service, f.level AS level, f.name AS name FROM fleet_manifests LATERAL VIEW explode(files) AS f;

CREATE OR REPLACE TEMPORARY VIEW fleet_covered AS
SELECT date, service, folder, r[0] AS first_batch, r[1] AS last_batch
FROM fleet_manifests LATERAL VIEW explode(covered) AS folder, batches LATERAL VIEW explode(batches) AS r;

CREATE OR REPLACE TEMPORARY VIEW fleet_all_fresh USING parquet OPTIONS (path ${quoted rollups/fresh});
CREATE OR REPLACE TEMPORARY VIEW fleet_all_detail USING parquet OPTIONS (path ${quoted rollups/detail});
CREATE OR REPLACE TEMPORARY VIEW fleet_all_day USING parquet OPTIONS (path ${quoted rollups/day});

-- What came after the last compaction.
CREATE OR REPLACE TEMPORARY VIEW fleet_fresh AS
SELECT ${columns f.}, f.day AS date, f.of AS service
FROM (
  SELECT *, regexp_extract(input_file_name(), 'date=([^/]+)/', 1) AS day, regexp_extract(input_file_name(), 'service=([^/]+)/', 1) AS of,
    regexp_extract(input_file_name(), '([^/]+)[.][0-9]+-[0-9]+[.]parquet$', 1) AS folder,
    try_cast(regexp_extract(input_file_name(), '[.]([0-9]+)-[0-9]+[.]parquet$', 1) AS bigint) AS first_batch,
    try_cast(regexp_extract(input_file_name(), '-([0-9]+)[.]parquet$', 1) AS bigint) AS last_batch
  FROM fleet_all_fresh) f
LEFT ANTI JOIN fleet_covered c
ON c.date = f.day AND c.service = f.of AND c.folder = f.folder AND c.first_batch <= f.first_batch AND f.last_batch <= c.last_batch;

-- Five minutes a row, of all instances, classes, executors and sites.
CREATE OR REPLACE TEMPORARY VIEW rollups AS
SELECT ${columns d.}, d.day AS date, d.of AS service
FROM (SELECT *, regexp_extract(input_file_name(), 'date=([^/]+)/', 1) AS day, regexp_extract(input_file_name(), 'service=([^/]+)/', 1) AS of, regexp_extract(input_file_name(), '([^/]+)$', 1) AS file FROM fleet_all_detail) d
LEFT SEMI JOIN fleet_files f ON f.level = 'detail' AND f.date = d.day AND f.service = d.of AND f.name = d.file
UNION ALL
SELECT * FROM fleet_fresh;

-- A day a row, of all instances together: much less to read.
CREATE OR REPLACE TEMPORARY VIEW rollups_by_day AS
SELECT ${columns d.}, d.day AS date, d.of AS service
FROM (SELECT *, regexp_extract(input_file_name(), 'date=([^/]+)/', 1) AS day, regexp_extract(input_file_name(), 'service=([^/]+)/', 1) AS of, regexp_extract(input_file_name(), '([^/]+)$', 1) AS file FROM fleet_all_day) d
LEFT SEMI JOIN fleet_files f ON f.level = 'day' AND f.date = d.day AND f.service = d.of AND f.name = d.file
UNION ALL
SELECT ${day_columns}, date, service FROM fleet_fresh;

-- A row a bucket: sums of bucket_count by bucket_value are the histogram of anything.
CREATE OR REPLACE TEMPORARY VIEW rollup_buckets AS
SELECT date, service, ${key_columns},
  CASE WHEN b.bucket_index < 128 THEN double(b.bucket_index) ELSE (2 * (64 + (b.bucket_index - 128) % 64) + 1) * pow(2, floor((b.bucket_index - 128) / 64)) - 0.5 END AS bucket_value,
  b.bucket_count AS bucket_count
FROM rollups LATERAL VIEW explode(arrays_zip(bucket_index, bucket_count)) AS b;
