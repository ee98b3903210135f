/**
 * Returns a table's own value under a name that comes from outside, or undefined. `table[name]` would also find
 * inherited members such as `constructor` and `__proto__`.
 */
export function ownValue<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}
