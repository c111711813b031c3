import { EntityDecoder } from '@nodable/entities';
import { XMLBuilder, XMLParser, XMLValidator } from 'fast-xml-parser';
import { uncarriable } from './characters.ts';
import { isObject, type JsonObject } from './json.ts';

/**
 * XML by fast-xml-parser, in both directions. Every value is text (`0012345`, `true`) and comes out of the reader as it
 * went into the writer: attributes and namespaces are passed over on the way in, and a document type is refused,
 * because that is where entities come from. Sizes are capped by whoever receives the bytes, depth here.
 */

const deepest = 32;

/** @param trimValues takes white space around texts away */
function reader(trimValues: boolean): XMLParser {
  return new XMLParser({
    trimValues,
    ignoreAttributes: true,
    ignoreDeclaration: true,
    ignorePiTags: true,
    parseTagValue: false,
    removeNSPrefix: true,
    // XML's own five names and numeric references; the library's default leaves `&#13;` as it stands.
    entityDecoder: new EntityDecoder(),
    maxNestedTags: deepest,
  });
}

const exact = reader(false);
const trimming = reader(true);

/** Whether a body is to be read as XML: by its first character, for content types are often wrong. */
export function looksLikeXml(body: Uint8Array): boolean {
  return /^\s*</.test(new TextDecoder().decode(body.subarray(0, 64)));
}

/**
 * What the root element holds: its text, or its children by name; a repeated element is a list. Texts are exact; beside
 * children there may be white space under `#text`.
 *
 * @returns undefined when the bytes are not well-formed XML, or have a document type
 */
export function parseXml(body: Uint8Array): unknown {
  return parse(exact, body);
}

/**
 * As `parseXml`, but with white space around texts taken away, and undefined for a root that holds no elements: for
 * answers and reports, in which nobody means it.
 */
export function parseXmlRoot(body: Uint8Array): JsonObject | undefined {
  const root = parse(trimming, body);
  return isObject(root) ? root : undefined;
}

/** As `parseXmlRoot`, of a root that may be a text. */
export function parseXmlTrimmed(body: Uint8Array): unknown {
  return parse(trimming, body);
}

function parse(parser: XMLParser, body: Uint8Array): unknown {
  const text = new TextDecoder().decode(body);
  if (/<!DOCTYPE/i.test(text) || XMLValidator.validate(text) !== true) return undefined;
  try {
    const document: unknown = parser.parse(text);
    if (!isObject(document)) return undefined;
    const roots = Object.entries(document).filter(([name]) => name !== '#text');
    return roots.length === 1 ? roots[0]?.[1] : undefined;
  } catch {
    // Names that would pollute a prototype, and nesting too deep.
    return undefined;
  }
}

/** An element's content: text, CDATA, children by name; a list stands for a repeated element. */
export type XmlContent = string | Cdata | XmlElements;
export type XmlElements = { readonly [name: string]: XmlContent | readonly XmlContent[] };
type Cdata = { readonly '#cdata': string };

/** How fast-xml-parser is asked to write. */
export const xmlWriting = {
  cdataPropName: '#cdata',
  jPath: false,
  // A reader turns a bare carriage return into a line feed, so it has to be a reference.
  entities: [
    { regex: /&/g, val: '&amp;' },
    { regex: /</g, val: '&lt;' },
    { regex: />/g, val: '&gt;' },
    { regex: /\r/g, val: '&#13;' },
  ],
};

const builder = new XMLBuilder(xmlWriting);
const attributeBuilder = new XMLBuilder({ ...xmlWriting, ignoreAttributes: false, attributeNamePrefix: '@' });

const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

/**
 * A document with one root element.
 *
 * @throws Error for text that XML cannot carry (`characters.ts`)
 */
export function buildXml(root: XmlElements): string {
  return toDocument(builder.build(root));
}

/** As `buildXml`; names that begin with `@` are attributes. */
export function buildXmlWithAttributes(root: XmlElements): string {
  return toDocument(attributeBuilder.build(root));
}

function toDocument(xml: string): string {
  const found = uncarriable('xml', xml);
  if (found !== undefined) throw new Error(`XML cannot carry the character ${found}`);
  return declaration + xml;
}

/**
 * Text as CDATA: what is in it needs no escapes, and a `]]>` is split over two sections. A carriage return can only be
 * written outside, so text that has one is written as ordinary text.
 */
export function cdata(text: string): XmlContent {
  return text === '' || text.includes('\r') ? text : { '#cdata': text };
}

/** An element that may be absent, there once or repeated, as a list. */
export function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
