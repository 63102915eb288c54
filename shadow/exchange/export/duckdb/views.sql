-- Names, by id. The last row of an id counts.

CREATE OR REPLACE VIEW class_names AS
SELECT class, arg_max(name, row_order) AS name, arg_max(kinds, row_order) AS kinds FROM classes GROUP BY class;

CREATE OR REPLACE VIEW thread_names AS
SELECT thread, arg_max(name, row_order) || '#' || arg_max(java_id, row_order) AS name, arg_max(virtual, row_order) AS virtual FROM threads GROUP BY thread;

CREATE OR REPLACE VIEW executor_names AS
SELECT executor, arg_max(class_name, row_order) || CASE WHEN arg_max(name, row_order) <> '' THEN ' ' || arg_max(name, row_order) ELSE '' END || ' #' || executor AS name
FROM executors GROUP BY executor;

CREATE OR REPLACE VIEW site_names AS
SELECT site, arg_max(class_name, row_order) || '.' || arg_max(method, row_order)
  || CASE WHEN arg_max(line, row_order) > 0 THEN '(' || arg_max(file, row_order) || ':' || arg_max(line, row_order) || ')' ELSE '' END AS name
FROM sites GROUP BY site;

CREATE OR REPLACE VIEW blocker_names AS
SELECT blocker, arg_max(class_name, row_order) AS name, arg_max(lock_class, row_order) AS lock_class FROM blockers GROUP BY blocker;

-- Submissions by the program or a library, without the ones that an executor refused and without records that are none.
CREATE OR REPLACE VIEW submissions_named AS
SELECT s.task_id, c.name AS class, s.at_ns AS submitted_ns, t.name AS thread, s.executor AS executor_id, x.name AS executor, p.name AS site,
  s.flags & 8 <> 0 AS thread_start, s.flags & 32 <> 0 AS inner_submission, s.outer_task_id
FROM submissions s LEFT JOIN class_names c USING (class) LEFT JOIN thread_names t USING (thread) LEFT JOIN executor_names x USING (executor) LEFT JOIN site_names p USING (site)
WHERE s.flags & (1 | 2 | 64 | 128) = 0;

-- A row for each execution that was recorded by itself. What was not measured is null.
CREATE OR REPLACE VIEW tasks_named AS
SELECT e.task_id, e.outer_task_id, coalesce(c.name, 'unknown class ' || e.class) AS class, c.kinds, t.name AS thread, t.virtual, e.depth,
  e.start_ns, e.start_ns + e.wall_ns AS end_ns, e.wall_ns, e.wall_ns - e.nested_wall_ns AS self_wall_ns, e.cpu_ns, e.cpu_ns - e.nested_cpu_ns AS self_cpu_ns,
  e.queue_ns, e.start_ns - e.queue_ns - coalesce(e.delay_ns, 0) AS submitted_ns, p.name AS site, e.flags & 1 <> 0 AS threw, e.flags & 2 <> 0 AS running
FROM executions e LEFT JOIN class_names c USING (class) LEFT JOIN thread_names t USING (thread) LEFT JOIN site_names p USING (site);

-- From the submission of a task to its execution.
CREATE OR REPLACE VIEW hand_overs AS
SELECT e.task_id, e.class, s.thread AS from_thread, e.thread AS to_thread, s.submitted_ns, e.start_ns, e.queue_ns, s.executor, s.site, e.wall_ns, e.cpu_ns
FROM tasks_named e JOIN submissions_named s ON e.task_id = s.task_id AND e.submitted_ns = s.submitted_ns;

CREATE OR REPLACE VIEW queue_by_class AS
SELECT class, count(*) AS executions, sum(queue_ns)::BIGINT AS sum_ns, avg(queue_ns) AS mean_ns, median(queue_ns) AS median_ns, quantile_cont(queue_ns, 0.99) AS p99_ns, max(queue_ns) AS max_ns
FROM tasks_named WHERE queue_ns IS NOT NULL GROUP BY class;

-- How many tasks each executor had in its queue after each submission and each start. Tasks without an execution of their
-- own are left out: they were never executed, or are in summaries.
CREATE OR REPLACE VIEW queue_lengths AS
SELECT executor, at_ns, sum(change) OVER (PARTITION BY executor ORDER BY at_ns, change ROWS UNBOUNDED PRECEDING)::BIGINT AS waiting
FROM (SELECT executor, submitted_ns AS at_ns, 1 AS change FROM hand_overs UNION ALL SELECT executor, start_ns, -1 FROM hand_overs);

-- Executions and work by class, also of executions that are only in summaries.
CREATE OR REPLACE VIEW work_by_class AS
SELECT class, sum(executions)::BIGINT AS executions, sum(summarised)::BIGINT AS summarised, sum(wall_ns)::BIGINT AS wall_ns, sum(self_wall_ns)::BIGINT AS self_wall_ns,
  sum(cpu_ns)::BIGINT AS cpu_ns, sum(self_cpu_ns)::BIGINT AS self_cpu_ns
FROM (
  SELECT class, count(*) AS executions, 0 AS summarised, sum(wall_ns) AS wall_ns, sum(self_wall_ns) AS self_wall_ns, sum(cpu_ns) AS cpu_ns, sum(self_cpu_ns) AS self_cpu_ns
  FROM tasks_named GROUP BY class
  UNION ALL
  SELECT coalesce(c.name, 'unknown class ' || s.class), s.executions, s.executions, m.wall, m.self_wall, m.cpu, m.self_cpu
  FROM summaries s LEFT JOIN class_names c USING (class) LEFT JOIN (
    SELECT summary, sum(sum_ns) FILTER (metric = 'wall') AS wall, sum(sum_ns) FILTER (metric = 'self_wall') AS self_wall,
      sum(sum_ns) FILTER (metric = 'cpu') AS cpu, sum(sum_ns) FILTER (metric = 'self_cpu') AS self_cpu
    FROM measures GROUP BY summary) m USING (summary)
  WHERE s.executions > 0
) GROUP BY class;

CREATE OR REPLACE VIEW gc AS
SELECT start_ns, end_ns, end_ns - start_ns AS pause_ns, cause FROM pauses WHERE cause IS DISTINCT FROM 'Profiler' ORDER BY start_ns; -- that is the profiler's own

-- Waits that were recorded one by one. Shorter ones are in wait_sums.
CREATE OR REPLACE VIEW waits_named AS
SELECT w.kind, b.name AS blocker, t.name AS thread, w.start_ns, w.end_ns, w.end_ns - w.start_ns AS waited_ns, p.name AS site, c.name AS within,
  k.name AS waker, w.waker_task, h.name AS holder
FROM waits w LEFT JOIN blocker_names b USING (blocker) LEFT JOIN thread_names t USING (thread) LEFT JOIN site_names p USING (site)
  LEFT JOIN class_names c ON c.class = w.within LEFT JOIN thread_names k ON k.thread = w.waker LEFT JOIN thread_names h ON h.thread = w.holder;
