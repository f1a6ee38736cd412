Asked: ${numberOfTasks?c}, approved: ${numberApproved?c}, rejected: ${numberRejected?c}, no opinion: ${numberNA?c}
<#list tasksInfo?filter(t -> t.ended) as t>
${t.actor}: ${t.status}<#if t.comment?has_content> (${t.comment})</#if>
</#list>
