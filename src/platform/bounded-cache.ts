const maxEntries = 8_192;
const maxCharacters = 4 * 1024 * 1024;

/**
 * Limit while the cache is useless. Entries are dropped before the garbage collector promotes them to the old
 * generation.
 */
const minEntries = 64;
/** After so many useless rounds, try the full size again. */
const roundsBetweenTrials = 1_024;

/**
 * Caches results by key, and drops all entries when it is full.
 *
 * If each key occurs once, caching is useless and costs half of the time of an import: thousands of entries
 * live just long enough to be promoted. So a useless cache stays small.
 */
export class BoundedCache<Key, Value extends NonNullable<unknown>> {
  #known = new Map<Key, Value>();
  #limit = maxEntries;
  #characters = 0;
  #found = 0;
  #rounds = 0;

  get(key: Key): Value | undefined {
    const value = this.#known.get(key);
    if (value !== undefined) this.#found++;
    return value;
  }

  /** @param characters length of the strings that only this entry keeps in memory */
  set(key: Key, value: Value, characters: number): void {
    if (this.#known.size >= this.#limit || this.#characters >= maxCharacters) this.#clear();
    this.#known.set(key, value);
    this.#characters += characters;
  }

  #clear(): void {
    const isOfUse = this.#found * 4 > this.#known.size;
    this.#rounds = isOfUse ? 0 : this.#rounds + 1;
    this.#limit = this.#rounds % roundsBetweenTrials === 0 ? maxEntries : minEntries;
    // Not `clear`: old entries would stay linked to the Map, and keep young objects until a full collection.
    this.#known = new Map();
    this.#characters = 0;
    this.#found = 0;
  }
}
