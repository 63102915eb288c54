
-- Sessions: those that have a manifest.
CREATE OR REPLACE VIEW fleet_sessions AS
SELECT date, service, session, session_name, wall_unix_ns, start_ns, duration_ns, ended, labels, jvm, produced, stored, lost, parse_dirpath(filename) AS folder, map_keys(files) AS files
FROM (SELECT * EXCLUDE (session_name), session_name->>'$' AS session_name FROM (
  SELECT date, service, regexp_extract(filename, '/session=([^/]+)/', 1) AS session, json_extract(json, '$.session') AS session_name,
    (json->>'$.wall_unix_ns')::BIGINT AS wall_unix_ns, (json->>'$.start_ns')::BIGINT AS start_ns, (json->>'$.duration_ns')::BIGINT AS duration_ns,
    json->>'$.ended' AS ended, json->'$.labels' AS labels, json->'$.jvm' AS jvm, json->'$.produced' AS produced, json->'$.stored' AS stored, json->'$.lost' AS lost,
    filename, (json->'$.files')::MAP(VARCHAR, JSON) AS files
  FROM read_json_objects(${quoted sessions/*/*/*/manifest.json}, filename = true, hive_partitioning = true, hive_types_autocast = false, maximum_object_size = 67108864)));

-- The executions of all sessions, one by one. Choose days, services and sessions: there are many.
CREATE OR REPLACE VIEW executions AS
SELECT e.* EXCLUDE (filename), s.wall_unix_ns + e.start_ns - s.start_ns AS start_unix_ns
FROM read_parquet(${quoted sessions/*/*/*/executions-*.parquet}, filename = true, hive_partitioning = true, hive_types_autocast = false, union_by_name = true) e
JOIN fleet_sessions s ON s.folder = parse_dirpath(e.filename) AND list_contains(s.files, parse_filename(e.filename));

CREATE OR REPLACE VIEW classes AS
SELECT DISTINCT c.date, c.service, c.session, c.class, c.name
FROM read_parquet(${quoted sessions/*/*/*/classes-*.parquet}, filename = true, hive_partitioning = true, hive_types_autocast = false, union_by_name = true) c
JOIN fleet_sessions s ON s.folder = parse_dirpath(c.filename) AND list_contains(s.files, parse_filename(c.filename));
