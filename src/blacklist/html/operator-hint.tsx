/** Renders advice for the operator when no list answers. Visitors do not see it. */
export function OperatorHint({ resolvers }: { readonly resolvers: readonly string[] }) {
  const asked = resolvers.length === 1 ? `the resolver ${resolvers[0]}` : `the resolvers ${resolvers.join(', ')}`
  return (
    <section class="advice operator">
      <h2>For the operator: no list answers this server</h2>
      <p>
        Allclear sends its queries through {asked}. Most lists refuse public resolvers and those of hosting companies.
        Run your own recursive resolver beside this service, such as Unbound (without forwarding, and with query name
        minimisation not strict), and set <code>DNS_SERVERS</code> to its address, for example{' '}
        <code>DNS_SERVERS=127.0.0.1:53</code>.
      </p>
      <p>
        Find each list’s answer in the log and at <a href="/graphql">/graphql</a>:{' '}
        <code>{'{ blacklists { name health { status detail } } }'}</code>. Only requests from this network show this
        message.
      </p>
    </section>
  )
}
