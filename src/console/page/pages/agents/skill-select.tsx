import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'

interface Skill {
  id: string
  name: string
  example: object
}

/** Chooses a skill, whose example then fills the data. The service lists its skills with their examples. */
export function SkillSelect({ data, fill }: { data: string; fill: (data: string) => void }) {
  const skills = useQuery({
    queryKey: ['skills'],
    queryFn: async () => {
      const response = await fetch('/a2a/schemas')
      return ((await response.json()) as { skills: Skill[] }).skills
    },
    staleTime: Number.POSITIVE_INFINITY
  })
  return (
    <Select
      label="Skill"
      placeholder="Choose a skill to begin with its example"
      searchable
      allowDeselect={false}
      value={skillIn(data)}
      data={skills.data?.map(({ id, name }) => ({ value: id, label: `${name} (${id})` })) ?? []}
      onChange={(id) => {
        const skill = skills.data?.find((one) => one.id === id)
        if (skill) fill(JSON.stringify(skill.example, null, 2))
      }}
    />
  )
}

/** The skill that the data names, as far as it is JSON already. */
function skillIn(data: string): string | null {
  try {
    const { skill } = JSON.parse(data) as { skill?: unknown }
    return typeof skill === 'string' ? skill : null
  } catch {
    return null
  }
}
