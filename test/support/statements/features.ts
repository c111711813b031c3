import { as, everyNode, lastName, listOf, type Tree } from './syntax.ts';

/** Features of Postgres that a statement needs, and that distributed databases may lack. */
export const features = [
  'advisory lock',
  'SKIP LOCKED',
  'temporary table',
  'physical row address',
  'row transaction',
  'notification',
  'sequence',
] as const;
export type Feature = (typeof features)[number];

export function featuresOf(statement: unknown): ReadonlySet<Feature> {
  const found = new Set<Feature>();
  everyNode(statement, (kind, node) => {
    if (kind === 'FuncCall') addFunction(lastName(node['funcname']), found);
    if (kind === 'LockingClause' && node['waitPolicy'] === 'LockWaitSkip') found.add('SKIP LOCKED');
    if (isTemporary(kind, node)) found.add('temporary table');
    if (kind === 'ColumnRef' && listOf(node['fields']).some((each) => lastName([each]) === 'ctid'))
      found.add('physical row address');
    if (kind === 'ColumnRef' && listOf(node['fields']).some((each) => lastName([each]) === 'xmin'))
      found.add('row transaction');
    if (kind === 'ListenStmt' || kind === 'NotifyStmt') found.add('notification');
  });
  return found;
}

function addFunction(name: string, found: Set<Feature>): void {
  if (/^pg_(try_)?advisory_/.test(name)) found.add('advisory lock');
  if (name === 'pg_notify') found.add('notification');
  if (/^(nextval|currval|lastval|setval)$/.test(name)) found.add('sequence');
}

function isTemporary(kind: string, node: Tree): boolean {
  const relation = kind === 'CreateStmt' ? node['relation'] : kind === 'IntoClause' ? node['rel'] : undefined;
  return relation !== undefined && as('it', { it: relation })?.['relpersistence'] === 't';
}
