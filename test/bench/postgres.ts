import { serverDatabase } from '../support/database.ts'

const server = process.env['BENCH_DATABASE_URL'] ?? 'postgresql://postgres@127.0.0.1:5432/postgres'

/** Creates an empty database on the server of BENCH_DATABASE_URL, or returns why it cannot. */
export async function ownDatabase(): Promise<{ readonly url: string; remove(): Promise<void> } | string> {
  try {
    return await serverDatabase(server)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
