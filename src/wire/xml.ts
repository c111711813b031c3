import { XMLParser, XMLValidator } from 'fast-xml-parser';
import type { JsonObject } from './json.ts';
import { isObject } from './json.ts';

/**
 * XML from outside, as fast-xml-parser reads it: every value stays text (`0012345`, `true`), attributes and namespaces
 * are passed over, and a document type is refused, because that is where entities come from.
 */
const parser = new XMLParser({
  ignoreAttributes: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  removeNSPrefix: true,
  // Numeric character references; the names beyond XML's own five do no harm.
  htmlEntities: true,
  maxNestedTags: 32,
});

/** Whether a body is to be read as XML: by its first character, for content types are often wrong. */
export function looksLikeXml(body: Uint8Array): boolean {
  return /^\s*</.test(new TextDecoder().decode(body.subarray(0, 64)));
}

/**
 * The children of the root element: text, or further elements; a repeated element is a list.
 *
 * @returns undefined when the bytes are not well-formed XML, or have a document type
 */
export function parseXmlRoot(body: Uint8Array): JsonObject | undefined {
  const text = new TextDecoder().decode(body);
  if (/<!DOCTYPE/i.test(text) || XMLValidator.validate(text) !== true) return undefined;
  try {
    const document: unknown = parser.parse(text);
    const [root, ...others] = isObject(document) ? Object.values(document) : [];
    return others.length === 0 && isObject(root) ? root : undefined;
  } catch {
    // Names that would pollute a prototype, and nesting too deep.
    return undefined;
  }
}
