import { useQuery } from '@tanstack/react-query'

export interface Skill {
  id: string
  name: string
  description: string
  /** Data and texts that ask for it. */
  example: object
  examples: string[]
}

/** The skills of the agent. The service lists them with their examples. */
export const useSkills = () =>
  useQuery({
    queryKey: ['skills'],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => ((await (await fetch('/a2a/schemas')).json()) as { skills: Skill[] }).skills
  })
