/** What the operator can do where no list answers; visitors, who can do nothing, do not see it. */
export function OperatorHint({ resolvers }: { readonly resolvers: readonly string[] }) {
  const asked = resolvers.length === 1 ? `the resolver ${resolvers[0]}` : `the resolvers ${resolvers.join(', ')}`
  return (
    <section class="advice operator">
      <h2>For the operator: no list answers this server</h2>
      <p>
        Allclear asks through {asked}. Most lists refuse public resolvers and those of hosting companies. Run a
        recursive resolver of your own, such as Unbound, beside this service (no forwarding, minimisation of query names
        not strict), and set <code>DNS_SERVERS</code> to its address, for example <code>DNS_SERVERS=127.0.0.1:53</code>.
      </p>
      <p>
        What each list answered is in the log and at <a href="/graphql">/graphql</a>:{' '}
        <code>{'{ blacklists { name health { status detail } } }'}</code>. You see this because your request comes from
        this network; visitors do not.
      </p>
    </section>
  )
}
