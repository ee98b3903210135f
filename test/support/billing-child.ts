/**
 * The service, for tests of crashes: it halts at the commit of the first transaction that stores an event of a payment
 * provider, reports that, and waits to be killed. STOP is `before` or `after` the commit.
 */
import pg from 'pg'

const { STOP } = process.env
const { query } = pg.Client.prototype
/** Connections whose transaction has stored an event. */
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

// Imported after the code above, because its modules connect at once.
const { run } = await import('../../src/app/program.ts')
await run(null)
