import type fc from 'fast-check';
import { compare } from './compare.ts';
import type { Model } from './model.ts';
import type { World } from './world.ts';

/** An action of a worker, an operator or the service. */
export type Step = {
  readonly name: string;
  readonly possible: (model: Model) => boolean;
  readonly run: (model: Model, world: World) => Promise<void>;
};

export type WeightedStep = { readonly weight: number; readonly step: Step };

/**
 * Takes one of the steps that are possible in its turn, then compares ledger and model.
 *
 * @param chance selects the step, from 0 to below 1
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

/** @param index is taken modulo the number of items */
export function choose<Item>(items: readonly Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('there is nothing to choose from');
  return item;
}
