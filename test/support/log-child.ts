/**
 * A process that appends to an event log with many writers at once, and reports each subject after its event is
 * committed. Arguments: the database's directory or URL, the organization, a name for its subjects, writers, events per
 * writer.
 */
import { openDatabase } from '../../src/database/client.ts'
import { testContext } from './context.ts'
import { writeAtOnce } from './log-writers.ts'
import { silent } from './scratch.ts'

const [where = '', organizationId = '', name = '', writers = '1', each = '1'] = process.argv.slice(2)
const databaseUrl = where.startsWith('postgresql:') ? where : undefined
const database = await openDatabase({ dataDir: where, databaseUrl, log: silent })
say('open')
await writeAtOnce(testContext(database.prisma), organizationId, {
  name,
  writers: Number(writers),
  each: Number(each),
  reported: say,
})
await database.close()

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
