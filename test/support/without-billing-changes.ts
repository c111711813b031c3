import type pg from 'pg';

/** A pool that does not record changes for billing. */
export type UnrecordingPool = { readonly pool: pg.Pool; readonly forgotten: () => number };

/**
 * Omits only what `ledger/requests` records: reopened requests (`recordReopenedRequests`), and outcomes that move
 * to a further attempt (`moveOutcomesToLastAttempt`).
 */
export function withoutBillingChanges(pool: pg.Pool): UnrecordingPool {
  let forgotten = 0;
  const forget = (statement: unknown): unknown => {
    if (typeof statement === 'string') {
      const without = statement.replaceAll(
        /INSERT INTO billing_reopened_requests \(run_id, request\)\s+(?=SELECT)/g,
        '',
      );
      if (without !== statement) forgotten++;
      return without;
    }
    if (!isNamed(statement) || statement.name !== 'move-billed-outcomes') return statement;
    forgotten++;
    return 'SELECT';
  };
  const watch = <Session extends object>(session: Session): Session =>
    new Proxy(session, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key, target);
        if (typeof value !== 'function') return value;
        if (key === 'connect') return async () => watch<object>(await value.call(target));
        if (key !== 'query') return value.bind(target);
        return (statement: unknown, ...values: unknown[]) => value.call(target, forget(statement), ...values);
      },
    });
  return { pool: watch(pool), forgotten: () => forgotten };
}

function isNamed(statement: unknown): statement is { readonly name: string } {
  return typeof statement === 'object' && statement !== null && 'name' in statement;
}
