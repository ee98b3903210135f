/**
 * The service, for tests of crashes: it stops for good at the commit of the first transaction that stores an event of a
 * payment provider, says so, and waits to be killed. STOP says whether it stops `before` the commit or `after` it.
 */
import pg from 'pg'

const { STOP } = process.env
const { query } = pg.Client.prototype
/** The connections whose transaction has stored one. */
const storing = new WeakSet<pg.Client>()

pg.Client.prototype.query = async function (this: pg.Client, ...given: Parameters<typeof query>) {
  const text = textOf(given[0])
  if (/^INSERT INTO \S*"PaymentEvent"/.test(text)) storing.add(this)
  if (!storing.has(this) || text !== 'COMMIT') return query.apply(this, given)
  if (STOP === 'after') await query.apply(this, given)
  process.stdout.write(`stopped ${STOP} the commit\n`)
  return new Promise(() => {})
} as typeof query

function textOf(statement: unknown): string {
  return typeof statement === 'string' ? statement : (statement as { readonly text: string }).text
}

// After the above: what it imports connects at once.
const { run } = await import('../../src/app/program.ts')
await run(null)
