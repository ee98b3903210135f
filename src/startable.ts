import { createServer } from 'node:net'
import { requireMmdb } from './blacklist/geo/mmdb.ts'
import type { Config } from './config.ts'
import { StartError } from './errors.ts'
import { requireSender } from './notification/channel/mailer.ts'

/**
 * Looks whether settings that read well can work here, before anything is opened or begun.
 * @throws StartError that names the setting, and says what is wrong with it.
 */
export async function requireStartable(config: Config): Promise<void> {
  const { HOST, PORT, MAIL_FROM, GEO_CITY_DB, GEO_ASN_DB } = config
  if (MAIL_FROM !== undefined) requireSender(MAIL_FROM)
  for (const [name, file] of Object.entries({ GEO_CITY_DB, GEO_ASN_DB })) {
    if (file !== undefined) await requireMmdb(name, file)
  }
  await requireFree(HOST, PORT)
}

/** Listens for a moment: only the machine knows its addresses and ports. */
function requireFree(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', (cause: NodeJS.ErrnoException) => {
      const name =
        cause.code === 'EADDRINUSE' || cause.code === 'EACCES' ? `PORT is ${port}` : `HOST is ${JSON.stringify(host)}`
      const takes = cause.code === 'EADDRINUSE' ? 'a port that is free' : 'a port and an address of this machine'
      reject(
        new StartError(`${name}, but takes ${takes}. Cannot listen on port ${port} of ${host}: ${cause.message}.`, {
          cause,
        }),
      )
    })
    server.listen(port, host, () => server.close(() => resolve()))
  })
}
