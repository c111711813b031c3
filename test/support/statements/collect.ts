import { evaluate } from './evaluate.ts';
import { explore, isUnknown, UnknownText } from './scope.ts';
import { ancestors, functionNameOf, type GivenValues, indexCallers, Scopes } from './scopes.ts';
import { child, children, lineOf, type Node, nameOf, readSources, type Source, walk } from './sources.ts';

export type SentStatement =
  /** `where`: file and function, such as `runs/stop.ts pauseRun`. */
  | { readonly where: string; readonly text: string }
  /** The source alone does not say what is sent. */
  | { readonly where: string; readonly problem: string };

/**
 * Collects every statement that `src` sends through pg, or as SQL through knex, by evaluating the source at each
 * call. A failure is returned as a problem.
 */
export function collectStatements(given: GivenValues): readonly SentStatement[] {
  const sources = readSources();
  const callers = indexCallers(sources);
  return [...sources.values()].flatMap((source) =>
    sitesIn(source).flatMap((site): readonly SentStatement[] => {
      const [sent] = children(site, 'arguments');
      const where = functionNameOf(source, site);
      try {
        return explore((choose) => {
          const callersFound: string[] = [];
          const scopes = new Scopes({
            sources,
            callers,
            given,
            choose,
            onCaller: (caller) => callersFound.push(caller),
          });
          const text = sent ? textOf(evaluate(sent, scopes.at(source, site), choose)) : '';
          return { where: (sent && sendsForCaller(sent) && callersFound[0]) || where, text };
        });
      } catch (error) {
        if (!(error instanceof UnknownText)) throw new Error(`${where}: ${String(error)}`, { cause: error });
        return [{ where, problem: `line ${lineOf(source, site)}: ${error.message}` }];
      }
    }),
  );
}

/** Functions whose callers pass the statement, or a cursor's query. */
function sendsForCaller(sent: Node): boolean {
  const first = sent.type === 'TemplateLiteral' ? children(sent, 'quasis')[0] : undefined;
  return sent.type === 'Identifier' || JSON.stringify(first?.['value'] ?? '').includes('DECLARE');
}

/** Functions that build statements with knex. */
export function functionsThatBuild(): readonly string[] {
  return [...readSources().values()].flatMap((source) => {
    const names: string[] = [];
    walk(source.program, (node) => {
      if (isBuilding(node)) names.push(functionNameOf(source, node));
    });
    return [...new Set(names)];
  });
}

/** A chain that begins with `knex('table')`. */
function isBuiltOn(call: Node): boolean {
  if (isBuilding(call)) return true;
  const callee = child(call, 'callee');
  if (callee.type !== 'MemberExpression') return false;
  const object = child(callee, 'object');
  return object.type === 'CallExpression' && isBuiltOn(object);
}

function isBuilding(node: Node): boolean {
  return node.type === 'CallExpression' && child(node, 'callee')['name'] === 'knex';
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const text = isUnknown(value) ? value : Reflect.get(Object(value), 'text');
  return String(text);
}

/** Calls of `query`, `raw` and `copyFrom` with an argument. */
function sitesIn({ program, parents }: Source): readonly Node[] {
  const sites: Node[] = [];
  // SQL inside a statement of knex.
  const isPart = (node: Node): boolean =>
    [...ancestors(parents, node)].some((each) => each.type === 'CallExpression' && isBuiltOn(each));
  walk(program, (node) => {
    if (node.type !== 'CallExpression') return;
    const callee = child(node, 'callee');
    const called =
      callee.type === 'MemberExpression'
        ? nameOf(child(callee, 'property'))
        : callee.type === 'Identifier'
          ? nameOf(callee)
          : '';
    const [sent] = children(node, 'arguments');
    if (
      !sent ||
      !/^(query|raw|copyFrom)$/.test(called) ||
      (called !== 'copyFrom' && callee.type === 'Identifier')
    )
      return;
    // The COPY statement is a call of its own.
    const isCopy = sent.type === 'CallExpression' && child(sent, 'callee')['name'] === 'copyFrom';
    if (!isCopy && !isPart(node)) sites.push(node);
  });
  return sites;
}
