-- The roll-ups and sessions of ${name}, for DuckDB 1.2 or later: views over files, which stay where they are.
--remote: First: INSTALL httpfs; LOAD httpfs; and CREATE SECRET with the credentials of the bucket.

-- The manifest that counts, of each day and service: the one with the highest number, up to 999,999.
CREATE OR REPLACE VIEW fleet_manifests AS
SELECT date, service, files, covered FROM (
  SELECT *, row_number() OVER (PARTITION BY date, service ORDER BY filename DESC) AS place
  FROM read_json(${quoted rollups/manifests/*/*/*.json}, filename = true, hive_partitioning = true, hive_types_autocast = false,
    maximum_object_size = 67108864,
    columns = {files: 'STRUCT("name" VARCHAR, "level" VARCHAR)[]', covered: 'MAP(VARCHAR, UBIGINT[][])'})
  WHERE filename LIKE '%/00______.json'
) WHERE place = 1;

CREATE OR REPLACE VIEW fleet_files AS
SELECT date, service, f.level AS level, f.name AS name FROM (SELECT date, service, unnest(files) AS f FROM fleet_manifests);

CREATE OR REPLACE VIEW fleet_covered AS
SELECT date, service, entry.key AS folder, batches[1] AS first_batch, batches[2] AS last_batch FROM (
  SELECT date, service, entry, unnest(entry.value) AS batches FROM (SELECT date, service, unnest(map_entries(covered)) AS entry FROM fleet_manifests));

-- What came after the last compaction.
CREATE OR REPLACE VIEW fleet_fresh AS
SELECT * EXCLUDE (filename, folder, first_batch, last_batch) FROM (
  SELECT *, regexp_extract(filename, '([^/]+)\.[0-9]+-[0-9]+\.parquet$', 1) AS folder,
    TRY_CAST(regexp_extract(filename, '\.([0-9]+)-[0-9]+\.parquet$', 1) AS UBIGINT) AS first_batch,
    TRY_CAST(regexp_extract(filename, '-([0-9]+)\.parquet$', 1) AS UBIGINT) AS last_batch
  FROM read_parquet(${quoted rollups/fresh/*/*/*.parquet}, filename = true, hive_partitioning = true, hive_types_autocast = false)
) f
WHERE NOT EXISTS (
  FROM fleet_covered c
  WHERE c.date = f.date AND c.service = f.service AND c.folder = f.folder AND c.first_batch <= f.first_batch AND f.last_batch <= c.last_batch);

-- Five minutes a row, of all instances, classes, executors and sites.
CREATE OR REPLACE VIEW rollups AS
SELECT * EXCLUDE (filename)
FROM read_parquet(${quoted rollups/detail/*/*/*.parquet}, filename = true, hive_partitioning = true, hive_types_autocast = false) d
WHERE EXISTS (FROM fleet_files f WHERE f.level = 'detail' AND f.date = d.date AND f.service = d.service AND f.name = parse_filename(d.filename))
UNION ALL BY NAME
SELECT * FROM fleet_fresh;

-- A day a row, of all instances together: much less to read.
CREATE OR REPLACE VIEW rollups_by_day AS
SELECT * EXCLUDE (filename)
FROM read_parquet(${quoted rollups/day/*/*/*.parquet}, filename = true, hive_partitioning = true, hive_types_autocast = false) d
WHERE EXISTS (FROM fleet_files f WHERE f.level = 'day' AND f.date = d.date AND f.service = d.service AND f.name = parse_filename(d.filename))
UNION ALL BY NAME
SELECT * REPLACE (to_timestamp(floor(epoch(window_start) / 86400) * 86400) AS window_start, '' AS instance, '' AS session, '' AS labels) FROM fleet_fresh;

-- The value that stands for a bucket of a histogram: its middle.
CREATE OR REPLACE MACRO bucket_value(i) AS
  CASE WHEN i < 128 THEN i::DOUBLE
  ELSE (2 * (64 + (i - 128) % 64) + 1) * pow(2, (i - 128) // 64) - 0.5 END;

-- A row a bucket: sums of bucket_count by bucket are the histogram of anything.
CREATE OR REPLACE VIEW rollup_buckets AS
SELECT * EXCLUDE (bucket_index), bucket_value(bucket_index) AS bucket_value
FROM (SELECT * EXCLUDE (bucket_index, bucket_count), unnest(bucket_index) AS bucket_index, unnest(bucket_count) AS bucket_count FROM rollups);
