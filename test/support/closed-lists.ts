import type pg from 'pg';

/** The words that a column may have. */
export type ClosedList = {
  readonly table: string;
  readonly column: string;
  readonly comment: string | null;
  readonly words: readonly string[];
};

/** Reads the CHECKs of single columns, with the functions that they call. */
export async function readClosedLists(pool: pg.Pool): Promise<ClosedList[]> {
  const { rows } = await pool.query<Omit<ClosedList, 'words'> & { readonly condition: string }>(`
    SELECT r.relname AS table, a.attname AS column, col_description(a.attrelid, a.attnum) AS comment,
           concat_ws(' ', pg_get_constraintdef(c.oid), (
             SELECT string_agg(pg_get_functiondef(d.refobjid), ' ')
             FROM pg_depend d
             WHERE d.classid = 'pg_constraint'::regclass AND d.objid = c.oid AND d.refclassid = 'pg_proc'::regclass
           )) AS condition
    FROM pg_constraint c
    JOIN pg_class r ON r.oid = c.conrelid
    JOIN pg_attribute a ON a.attrelid = c.conrelid AND c.conkey = ARRAY[a.attnum]
    WHERE c.contype = 'c' AND r.relnamespace = 'public'::regnamespace
    ORDER BY 1, 2
  `);
  return rows
    .filter(({ condition }) => condition.includes('= ANY (ARRAY['))
    .map(({ condition, ...column }) => ({
      ...column,
      words: [...new Set([...condition.matchAll(/'([^']+)'::text/g)].map(([, word]) => word ?? ''))],
    }));
}
