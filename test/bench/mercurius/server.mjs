/** The GraphQL server to compare with: mercurius with its just-in-time compiler, over data in memory. */
import { readFileSync } from 'node:fs'
import fastify from 'fastify'
import mercurius from 'mercurius'

process.once('message', async ({ statusPage }) => {
  const server = fastify()
  await server.register(mercurius, {
    schema: readFileSync('schema.graphql', 'utf8'),
    resolvers: { Query: { statusPage: () => statusPage } },
    jit: 1,
  })
  await server.listen({ port: 0, host: '127.0.0.1' })
  process.send(server.server.address().port)
})
