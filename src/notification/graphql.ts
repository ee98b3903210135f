// The door of the feature: its types and operations, by concept.
import './graphql/words.ts'
import './graphql/subscriber.ts'
import './graphql/delivery.ts'
import './graphql/lists.ts'
import './graphql/subscriptions.ts'
import './graphql/owner.ts'
