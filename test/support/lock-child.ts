/** A process that locks a directory and keeps running, or prints why it cannot. */
import { lockDirectory } from '../../src/database/embedded/directory-lock.ts'

try {
  await lockDirectory(process.argv[2] ?? '')
  process.stdout.write('locked\n')
  setInterval(() => {}, 60_000)
} catch (error) {
  process.stdout.write(`${error instanceof Error ? error.message : error}\n`)
}
