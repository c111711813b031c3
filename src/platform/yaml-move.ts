import { isScalar, isSeq, parseDocument } from 'yaml';
import type { Path } from './yaml-nodes.ts';

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
