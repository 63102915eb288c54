-- The roll-ups of ${name}, for ClickHouse 24.8 or later: views over files, which stay where they are.
--remote: Credentials: those of the server (use_environment_credentials), or a named collection in place of the address.
--remote: On a cluster, s3Cluster('CLUSTER', ...) in place of s3(...) spreads the reading over its nodes.

-- The manifest that counts, of each day and service: the one with the highest number, up to 999,999.
CREATE OR REPLACE VIEW fleet_manifests AS
SELECT extract(_path, 'date=([^/]+)/') AS date, extract(_path, 'service=([^/]+)/') AS service,
  argMax(files, _file) AS files, argMax(covered, _file) AS covered
FROM ${table rollups/manifests/*/*/*.json JSONEachRow files Array(Tuple(name String, level String)), covered Map(String, Array(Array(UInt64)))}
WHERE _file LIKE '00______.json'
GROUP BY date, service
SETTINGS input_format_skip_unknown_fields = 1;

CREATE OR REPLACE VIEW fleet_files AS
SELECT date, service, f.level AS level, f.name AS name FROM fleet_manifests ARRAY JOIN files AS f;

CREATE OR REPLACE VIEW fleet_covered AS
SELECT date, service, folder, r[1] AS first_batch, r[2] AS last_batch
FROM (SELECT date, service, folder, batches FROM fleet_manifests ARRAY JOIN mapKeys(covered) AS folder, mapValues(covered) AS batches)
ARRAY JOIN batches AS r;

-- What came after the last compaction.
CREATE OR REPLACE VIEW fleet_fresh AS
SELECT ${columns f.}, f.date AS date, f.service AS service
FROM (
  SELECT *, extract(_path, 'date=([^/]+)/') AS date, extract(_path, 'service=([^/]+)/') AS service,
    extract(_file, '^(.+)\\.[0-9]+-[0-9]+\\.parquet$') AS folder,
    toUInt64OrZero(extract(_file, '\\.([0-9]+)-[0-9]+\\.parquet$')) AS first_batch,
    toUInt64OrZero(extract(_file, '-([0-9]+)\\.parquet$')) AS last_batch
  FROM ${table rollups/fresh/*/*/*.parquet Parquet}
) AS f
LEFT JOIN (
  SELECT date, service, folder, groupArray((first_batch, last_batch)) AS covered FROM fleet_covered GROUP BY date, service, folder
) AS c ON c.date = f.date AND c.service = f.service AND c.folder = f.folder
WHERE NOT arrayExists(r -> r.1 <= f.first_batch AND f.last_batch <= r.2, c.covered);

-- Five minutes a row, of all instances, classes, executors and sites.
CREATE OR REPLACE VIEW rollups AS
SELECT ${columns}, extract(_path, 'date=([^/]+)/') AS date, extract(_path, 'service=([^/]+)/') AS service
FROM ${table rollups/detail/*/*/*.parquet Parquet}
WHERE (extract(_path, 'date=([^/]+)/'), extract(_path, 'service=([^/]+)/'), _file) IN (SELECT date, service, name FROM fleet_files WHERE level = 'detail')
UNION ALL
SELECT * FROM fleet_fresh;

-- A day a row, of all instances together: much less to read.
CREATE OR REPLACE VIEW rollups_by_day AS
SELECT ${columns}, extract(_path, 'date=([^/]+)/') AS date, extract(_path, 'service=([^/]+)/') AS service
FROM ${table rollups/day/*/*/*.parquet Parquet}
WHERE (extract(_path, 'date=([^/]+)/'), extract(_path, 'service=([^/]+)/'), _file) IN (SELECT date, service, name FROM fleet_files WHERE level = 'day')
UNION ALL
SELECT * REPLACE (toDateTime64(toStartOfDay(window_start), 6, 'UTC') AS window_start, '' AS instance, '' AS session, '' AS labels) FROM fleet_fresh;

-- A row a bucket: sums of bucket_count by bucket_value are the histogram of anything.
CREATE OR REPLACE VIEW rollup_buckets AS
SELECT * EXCEPT (bucket_index, bucket_count, i), if(i < 128, toFloat64(i), (2 * (64 + (i - 128) % 64) + 1) * pow(2, intDiv(i - 128, 64)) - 0.5) AS bucket_value, n AS bucket_count
FROM (SELECT *, i, n FROM rollups ARRAY JOIN bucket_index AS i, bucket_count AS n);
