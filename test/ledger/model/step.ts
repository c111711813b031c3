import type fc from 'fast-check';
import { compare } from './compare.ts';
import type { Model } from './model.ts';
import type { World } from './world.ts';

/** Something that a worker, an operator or the service does. */
export type Step = {
  readonly name: string;
  readonly possible: (model: Model) => boolean;
  readonly run: (model: Model, world: World) => Promise<void>;
};

/** A step, and how often it is taken against the others. */
export type WeightedStep = { readonly weight: number; readonly step: Step };

/**
 * Takes one of those steps that are possible when its turn comes; then the ledger is held against the model.
 *
 * @param chance which of them, from 0 to below 1
 */
export function commandOf(offers: readonly WeightedStep[], chance: number): fc.AsyncCommand<Model, World> {
  let name = 'nothing';
  return {
    toString: () => name,
    check: () => true,
    async run(model, world) {
      const step = draw(
        offers.filter(({ step: { possible } }) => possible(model)),
        chance,
      );
      name = step.name;
      await step.run(model, world);
      await compare(model, world);
    },
  };
}

function draw(offers: readonly WeightedStep[], chance: number): Step {
  let left = chance * offers.reduce((sum, { weight }) => sum + weight, 0);
  const drawn = offers.find(({ weight }) => {
    left -= weight;
    return left < 0;
  });
  if (!drawn) throw new Error('nothing is possible');
  return drawn.step;
}

/** @param index any number; the same number means another one when there are more to choose from */
export function choose<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('there is nothing to choose from');
  return item;
}
