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
  #entries = new Map<Key, Value>();
  #limit = maxEntries;
  #characters = 0;
  #hits = 0;
  #rounds = 0;

  get(key: Key): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.#hits++;
    return value;
  }

  /** @param characters length of the strings that only this entry keeps in memory */
  set(key: Key, value: Value, characters: number): void {
    if (this.#entries.size >= this.#limit || this.#characters >= maxCharacters) this.#clear();
    this.#entries.set(key, value);
    this.#characters += characters;
  }

  #clear(): void {
    const isUseful = this.#hits * 4 > this.#entries.size;
    this.#rounds = isUseful ? 0 : this.#rounds + 1;
    this.#limit = this.#rounds % roundsBetweenTrials === 0 ? maxEntries : minEntries;
    // Not `Map.clear`: old entries would stay linked to the Map, and keep young objects until a full collection.
    this.#entries = new Map();
    this.#characters = 0;
    this.#hits = 0;
  }
}
