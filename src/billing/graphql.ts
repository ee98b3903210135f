// The door of the feature: its types and operations, by concept.
import './graphql/tier.ts'
import './graphql/check-plan.ts'
import './graphql/overview.ts'
import './graphql/payment.ts'
