const maxEntries = 8_192;
const maxCharacters = 4 * 1024 * 1024;

/** Entries that are kept where hardly any is asked for again: they are gone before the garbage collector takes them for old. */
const minEntries = 64;
/** So often they are forgotten before as many as possible are kept once more. */
const roundsBetweenTrials = 1_024;

/**
 * What is worked out once, and found again as long as it is remembered. All is forgotten at once when there is no more room.
 *
 * Where each key comes up only once, remembering is in vain, and costs half of the time of an import: thousands of entries
 * live just long enough to be taken for old. So what is of no use is remembered for a short time only.
 */
export class BoundedCache<Key, Value extends NonNullable<unknown>> {
  #known = new Map<Key, Value>();
  #most = maxEntries;
  #characters = 0;
  #found = 0;
  #rounds = 0;

  get(key: Key): Value | undefined {
    const value = this.#known.get(key);
    if (value !== undefined) this.#found++;
    return value;
  }

  /** @param characters that are only there as long as this is remembered */
  set(key: Key, value: Value, characters: number): void {
    if (this.#known.size >= this.#most || this.#characters >= maxCharacters) this.#forget();
    this.#known.set(key, value);
    this.#characters += characters;
  }

  #forget(): void {
    const isOfUse = this.#found * 4 > this.#known.size;
    this.#rounds = isOfUse ? 0 : this.#rounds + 1;
    this.#most = this.#rounds % roundsBetweenTrials === 0 ? maxEntries : minEntries;
    // A new one: what a cleared Map has held stays linked to it, and keeps young objects until all are looked through.
    this.#known = new Map();
    this.#characters = 0;
    this.#found = 0;
  }
}
