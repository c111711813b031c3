/** SQL to join: `accepted`, true if rows show an acceptance. False proves nothing: see `requestOf`. */
export function acceptanceOf(run: string, request: string): string {
  return `LATERAL (
    SELECT CASE
             WHEN q.request IS NOT NULL THEN q.state = 'accepted'
             WHEN s.claimed_to < ${request} THEN false
             -- Every other request that was claimed has a row by then.
             WHEN s.state = 'done' THEN true
             ELSE EXISTS (
               SELECT FROM outcomes b
               WHERE b.run_id = s.run_id AND b.slice = s.slice AND ${request} = ANY (b.requests)
               OFFSET 0
             )
           END AS accepted
    FROM (
      SELECT *
      FROM slices
      WHERE run_id = ${run} AND first_request <= ${request}
      ORDER BY first_request DESC
      LIMIT 1
    ) s
    LEFT JOIN LATERAL (
      SELECT request, state FROM requests WHERE run_id = s.run_id AND request = ${request} LIMIT 1
    ) q ON true
  )`;
}
