import { builder } from '../schema/builder.ts'
import { describedValues } from '../schema/descriptions.ts'

const OrderDirection = builder.enumType('OrderDirection', {
  description: 'The direction of an order.',
  values: {
    ASC: { value: 'asc', description: 'Ascending: oldest first, A to Z.' },
    DESC: { value: 'desc', description: 'Descending: newest first, Z to A.' },
  } as const,
})

/**
 * Defines the input `{name}Order` of an `orderBy` argument.
 * @param fields the fields to order by, with descriptions.
 */
export function orderInput<const Field extends string>(name: string, fields: Readonly<Record<Field, string>>) {
  const values = describedValues(fields)
  const FieldEnum = builder.enumType(`${name}OrderField`, {
    description: `The fields that a list of ${name} objects can be ordered by.`,
    values,
  })
  return builder.inputType(`${name}Order`, {
    description: `The order of a list of ${name} objects.`,
    fields: (t) => ({
      field: t.field({ type: FieldEnum, description: 'The field to order by.' }),
      direction: t.field({ type: OrderDirection, description: 'The direction.' }),
    }),
  })
}

/** The maximum length of a sort key, because cursors contain these keys. */
const MAX_KEY_LENGTH = 200

/**
 * Returns the sort key of a name: ignores case and accents, and compares numbers by value (`web-2` before `web-10`),
 * the same on every database.
 */
export function nameKey(name: string): string {
  const plain = name.slice(0, MAX_KEY_LENGTH).normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
  return plain.replace(/\d+/g, (digits) => digits.padStart(16, '0')).slice(0, MAX_KEY_LENGTH)
}
