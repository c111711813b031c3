/** Bytes of the bodies in a block, without its last one. */
export const maxBlockBytes = 1024 * 1024;

/** A block's ids are `report_ids`' next number and those after it, up to the next one. */
export const maxBlockCalls = 256;

/**
 * SQL: further clauses of a `WITH`, and the statement, which add calls to the inbox in blocks, and each block to the queue.
 *
 * @param calls rows of `index` (the order), `account`, `received_at`, `method`, `content_type`, `headers` and `body`
 * @param dueAt an expression over the block
 */
export const storeAndQueue = (calls: string, dueAt: string): string => `block AS (
    SELECT ${blockColumns}
    FROM (
      SELECT *, sum(octet_length(body)) OVER in_order AS bytes_so_far, row_number() OVER in_order AS place
      FROM ${calls}
      WINDOW in_order AS (ORDER BY index ROWS UNBOUNDED PRECEDING)
    ) sized
    GROUP BY div(bytes_so_far, ${maxBlockBytes}), div(place - 1, ${maxBlockCalls})
    ORDER BY min(index)
  ), stored AS (
    INSERT INTO inbox_blocks (first_report, calls, bytes, first_received_at, last_received_at, accounts, received_at,
                              methods, content_types, headers, bodies)
    SELECT nextval('report_ids'), *
    FROM block
    RETURNING first_report, calls, bytes, first_received_at
  )
  ${queueBlocks(dueAt)}`;

/** SQL: a statement that adds the blocks of the clause `stored` to the queue. */
export const queueBlocks = (dueAt: string): string => `
  INSERT INTO inbox_waiting (due_at, first_report, last_report, calls, bytes)
  SELECT ${dueAt}, first_report, first_report + calls - 1, calls, bytes
  FROM stored
  ORDER BY first_report`;

/** SQL: calls as the arrays of a block. */
const blockColumns = `
           count(*) AS calls, sum(octet_length(body)) AS bytes, min(received_at) AS first_received_at,
           max(received_at) AS last_received_at, array_agg(account ORDER BY index) AS accounts,
           array_agg(received_at ORDER BY index) AS received_at, array_agg(method ORDER BY index) AS methods,
           array_agg(content_type ORDER BY index) AS content_types, array_agg(headers ORDER BY index) AS headers,
           array_agg(body ORDER BY index) AS bodies`;
