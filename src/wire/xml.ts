import { XMLBuilder } from 'fast-xml-parser';
import { SaxesParser } from 'saxes';
import { firstUnsupportedCharacter } from './characters.ts';
import { isObject, type JsonObject, parseJson } from './json.ts';

/**
 * Reads and writes XML. Every value is text (`0012345`, `true`) and survives a round trip. The reader ignores
 * attributes and namespaces, and refuses a document type, the source of entities. Callers limit the size;
 * this file limits the structure.
 */

const maxDepth = 32;

/** White space, and the bytes of a byte order mark. */
const blankBytes: readonly number[] = [...Buffer.from(' \t\r\n\uFEFF')];

/** Decides by the first character, because content types are often wrong. */
export function looksLikeXml(body: Uint8Array): boolean {
  return body.find((byte) => !blankBytes.includes(byte)) === '<'.charCodeAt(0);
}

/**
 * The root element's text, or its children by name, with a list for a repeated element. Texts are exact;
 * text beside children stands under `#text`.
 *
 * @returns undefined for bytes that are not well-formed XML, or have a document type
 */
export function parseXml(body: Uint8Array): unknown {
  return parseXmlRoot(body)?.content;
}

/** Parses as `parseXml` does, and returns the root element's name without prefix too. */
export function parseXmlRoot(body: Uint8Array): XmlRoot | undefined {
  const text = decodeXml(body);
  const read = text === undefined ? undefined : readXml(text);
  return read?.kind === 'root' ? read : undefined;
}

type XmlRoot = { readonly kind: 'root'; readonly name: string; readonly content: unknown };

/** The caller wrote too much, or what is never read. The message completes a sentence. */
class RefusedXml extends Error {}

/** @param maxMembers elements and attributes over all levels */
export function readXml(
  text: string,
  maxMembers = Number.POSITIVE_INFINITY,
): XmlRoot | { readonly kind: 'unreadable'; readonly why: string } {
  try {
    return parseRoot(escapeUnknownEntities(text.trimStart()), maxMembers);
  } catch (error) {
    const why = error instanceof RefusedXml ? error.message : 'the XML is not well-formed';
    return { kind: 'unreadable', why };
  }
}

/** Outside of CDATA, an ampersand that begins none of XML's own references stays as it was written. */
function escapeUnknownEntities(text: string): string {
  return text.replaceAll(
    /<!\[CDATA\[.*?(?:\]\]>|$)|&(?!(?:amp|lt|gt|quot|apos|#\d{1,8}|#x[\dA-Fa-f]{1,8});)/gs,
    (found) => (found === '&' ? '&amp;' : found),
  );
}

type OpenElement = { readonly name: string; readonly children: Map<string, unknown[]>; text: string };

/** @throws Error */
function parseRoot(text: string, maxMembers: number): XmlRoot {
  // In XML 1.1, a reference could be to a control character.
  const version = { forceXMLVersion: true, defaultXMLVersion: '1.0' } as const;
  const parser = new SaxesParser<{ position: false; xmlns: false }>({
    ...version,
    position: false,
    xmlns: false,
  });
  const open: OpenElement[] = [];
  let root: XmlRoot | undefined;
  let members = 0;
  const countMember = (): void => {
    if (++members > maxMembers) throw new RefusedXml(`it has more than ${maxMembers} members`);
  };
  const addText = (piece: string): void => {
    const element = open.at(-1);
    if (element) element.text += piece;
  };
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('doctype', () => {
    throw new RefusedXml('it has a document type');
  });
  parser.on('attribute', countMember);
  parser.on('opentag', ({ name }) => {
    countMember();
    if (open.length >= maxDepth) throw new RefusedXml(`it is nested deeper than ${maxDepth} levels`);
    open.push({ name: name.slice(name.indexOf(':') + 1), children: new Map(), text: '' });
  });
  parser.on('text', addText);
  parser.on('cdata', addText);
  parser.on('closetag', () => {
    const element = open.pop();
    if (!element) return;
    const content = contentOf(element);
    const siblings = open.at(-1)?.children;
    const equals = siblings?.get(element.name);
    if (equals) equals.push(content);
    else if (siblings) siblings.set(element.name, [content]);
    else root = { kind: 'root', name: element.name, content };
  });
  parser.write(text).close();
  if (!root) throw new Error('no root element');
  return root;
}

function contentOf({ children, text }: OpenElement): unknown {
  if (children.size === 0) return text;
  const members = [...children].map(([name, values]) => [name, values.length === 1 ? values[0] : values]);
  return Object.fromEntries(text.trim() === '' ? members : [...members, ['#text', text]]);
}

/** Decodes by the declared encoding, else UTF-8. Returns undefined for invalid bytes. */
export function decodeXml(body: Uint8Array): string | undefined {
  const declaration = new TextDecoder('latin1').decode(body.subarray(0, 100));
  const encoding = /^<\?xml[^>]*?\bencoding\s*=\s*["']([\w.:-]+)["']/.exec(declaration)?.[1];
  try {
    return new TextDecoder(encoding ?? 'utf-8', { fatal: true }).decode(body);
  } catch {
    return undefined;
  }
}

export function parseXmlTrimmed(body: Uint8Array): unknown {
  return trimTexts(parseXml(body));
}

/** Removes white space around texts, which has no meaning in answers and reports. */
export function trimTexts(value: unknown): unknown {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) return value.map(trimTexts);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, child]) => [name, trimTexts(child)]));
}

/** Returns the members of a JSON object or an XML root, by the first character. */
export function parseMembers(body: Uint8Array): JsonObject | undefined {
  const content = looksLikeXml(body) ? parseXmlTrimmed(body) : parseJson(body);
  return isObject(content) ? content : undefined;
}

/** A list repeats an element. */
export type XmlContent = string | Cdata | XmlElements;
export type XmlElements = { readonly [name: string]: XmlContent | readonly XmlContent[] };
type Cdata = { readonly '#cdata': string };

export const xmlBuilderOptions = {
  cdataPropName: '#cdata',
  jPath: false,
  // XML readers turn a bare carriage return into a line feed, so it is written as a reference.
  entities: [
    { regex: /&/g, val: '&amp;' },
    { regex: /</g, val: '&lt;' },
    { regex: />/g, val: '&gt;' },
    { regex: /\r/g, val: '&#13;' },
  ],
};

const builder = new XMLBuilder(xmlBuilderOptions);
const attributeBuilder = new XMLBuilder({
  ...xmlBuilderOptions,
  ignoreAttributes: false,
  attributeNamePrefix: '@',
});

const declaration = '<?xml version="1.0" encoding="UTF-8"?>';

/** @throws Error for text that XML cannot carry (`characters.ts`) */
export function buildXml(root: XmlElements): string {
  return toDocument(builder.build(root));
}

/** Writes as `buildXml` does; names that begin with `@` are attributes. */
export function buildXmlWithAttributes(root: XmlElements): string {
  return toDocument(attributeBuilder.build(root));
}

function toDocument(xml: string): string {
  const found = firstUnsupportedCharacter('xml', xml);
  if (found !== undefined) throw new Error(`XML cannot carry the character ${found}`);
  return declaration + xml;
}

/**
 * The writer splits `]]>` over two sections. CDATA cannot carry a carriage return, so such text is escaped
 * instead.
 */
export function cdata(text: string): XmlContent {
  return text === '' || text.includes('\r') ? text : { '#cdata': text };
}

/** Returns an absent, single or repeated element as a list. */
export function toList(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
