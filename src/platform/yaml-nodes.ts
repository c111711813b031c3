import {
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  parseDocument,
  type YAMLMap,
} from 'yaml';

/** Keys and indexes from the root to a value. */
export type Path = readonly PropertyKey[];

/** Returns where the value at a path, or its nearest parent in the file, begins (characters). */
export function offsetOf(contents: Node | null, path: Path): number {
  for (let length = path.length; length > 0; length--) {
    const node = nodeAt(contents, path.slice(0, length));
    if (node?.range) return node.range[0];
  }
  return contents?.range?.[0] ?? 0;
}

/** Pairs by key: searching a list of thousands for each of thousands of keys takes seconds. */
const indexes = new WeakMap<YAMLMap, ReadonlyMap<string, Pair>>();

function pairOf(map: YAMLMap, key: string): Pair | undefined {
  let index = indexes.get(map);
  if (!index) {
    index = new Map(map.items.map((pair) => [isScalar(pair.key) ? String(pair.key.value) : '', pair]));
    indexes.set(map, index);
  }
  return index.get(key);
}

export function nodeAt(contents: Node | null, path: Path): Node | undefined {
  let node: unknown = contents;
  for (const step of path) {
    if (isMap(node)) node = pairOf(node, String(step))?.value;
    else if (isSeq(node)) node = node.items[Number(step)];
    else return undefined;
  }
  return isScalar(node) || isCollection(node) ? node : undefined;
}

/** Returns where a key begins (characters); undefined if it is not in the file. */
export function offsetOfKey(contents: Node | null, path: Path, key: string): number | undefined {
  const map = nodeAt(contents, path);
  if (!isMap(map)) return undefined;
  const written = pairOf(map, key)?.key;
  return isScalar(written) ? written.range?.[0] : undefined;
}

/**
 * Moves a text from one list of a YAML file to another. Comments stay.
 *
 * @throws Error for a list that the file does not have
 */
export function moveListItem(source: string, item: string, from: Path, to: Path): string {
  const document = parseDocument(source);
  const [before, after] = [document.getIn(from), document.getIn(to)];
  if (!isSeq(before) || !isSeq(after)) throw new Error(`${from.join('.')} or ${to.join('.')} is no list`);
  before.items = before.items.filter((each) => !isScalar(each) || String(each.value) !== item);
  after.add(document.createNode(item));
  return document.toString({ lineWidth: 0 });
}
