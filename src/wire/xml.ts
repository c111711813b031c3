import { EntityDecoder } from '@nodable/entities';
import { XMLBuilder, XMLParser, XMLValidator } from 'fast-xml-parser';
import { firstUnsupportedCharacter } from './characters.ts';
import { isObject, type JsonObject, parseJson } from './json.ts';

/**
 * Reads and writes XML. Every value is text (`0012345`, `true`) and survives a round trip. The reader ignores
 * attributes and namespaces, and refuses a document type, the source of entities. Callers limit the size;
 * this file limits the depth.
 */

const maxDepth = 32;

/** Refuses entities other than XML's five, and references to non-characters. */
class StrictEntities extends EntityDecoder {
  /** Called when the parser meets a document type. */
  override addInputEntities(): void {
    throw new Error('a document type');
  }

  override decode(text: string): string {
    if (controlReference.test(text) || surrogateReference.test(text))
      throw new Error('a reference to a non-character');
    return super.decode(text);
  }
}

/** To U+0000–U+001F except tab, line feed and carriage return. */
const controlReference = /&#0*(?:[0-8]|1[124-9]|2\d|3[01]);|&#x0*(?:[0-8bcef]|1[\da-f]);/i;

/** To U+D800–U+DFFF, which the decoder would silently drop. */
const surrogateReference =
  /&#0*(?:5529[6-9]|55[3-9]\d\d|56\d{3}|57[0-2]\d\d|573[0-3]\d|5734[0-3]);|&#x0*d[89a-f][\da-f]{2};/i;

const parser = new XMLParser({
  trimValues: false,
  ignoreAttributes: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
  parseTagValue: false,
  removeNSPrefix: true,
  entityDecoder: new StrictEntities(),
  maxNestedTags: maxDepth,
  transformTagName: refuseMarkup,
});

/** The parser takes `<!x>` for an element. */
function refuseMarkup(name: string): string {
  if (name.startsWith('!')) throw new Error('markup that is not an element');
  return name;
}

/** White space, and the bytes of a byte order mark. */
const blankBytes: readonly number[] = [...Buffer.from(' \t\r\n\uFEFF')];

/** Decides by the first character, because content types are often wrong. */
export function looksLikeXml(body: Uint8Array): boolean {
  return body.find((byte) => !blankBytes.includes(byte)) === '<'.charCodeAt(0);
}

/**
 * The root element's text, or its children by name, with a list for a repeated element. Texts are exact;
 * beside children, white space may stand under `#text`.
 *
 * @returns undefined for bytes that are not well-formed XML, or have a document type
 */
export function parseXml(body: Uint8Array): unknown {
  return parseXmlRoot(body)?.content;
}

/** Parses as `parseXml` does, and returns the root element's name without prefix too. */
export function parseXmlRoot(body: Uint8Array): XmlRoot | undefined {
  const text = decodeXml(body);
  return text === undefined ? undefined : parseText(text);
}

type XmlRoot = { readonly name: string; readonly content: unknown };

function parseText(text: string): XmlRoot | undefined {
  try {
    if (firstUnsupportedCharacter('xml', text) !== undefined || XMLValidator.validate(text) !== true)
      return undefined;
    const document: unknown = parser.parse(text);
    if (!isObject(document)) return undefined;
    const roots = Object.entries(document).filter(([name]) => name !== '#text');
    const [root] = roots;
    return root === undefined || roots.length > 1 ? undefined : { name: root[0], content: root[1] };
  } catch {
    // A document type, a name that would pollute a prototype, or too deep nesting.
    return undefined;
  }
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

export function parseXmlText(text: string): unknown {
  return trimTexts(parseText(text)?.content);
}

/** Removes white space around texts, which has no meaning in answers and reports. */
function trimTexts(value: unknown): unknown {
  if (typeof value === 'string') return value.trim();
  if (Array.isArray(value)) return value.map(trimTexts);
  if (!isObject(value)) return value;
  const children = Object.entries(value).map(([name, child]) => [name, trimTexts(child)] as const);
  return Object.fromEntries(children.filter(([name, child]) => name !== '#text' || child !== ''));
}

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

export function toList(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
