package service

// actions are those that there are, by category and in the order they are offered.
var actions = []action{
	{
		"create", "DOCUMENT", "Document.Create", "new", "AddChildren", true,
		texts{"New", "Neu", "Nouveau"},
		texts{"Make a document in this folder", "Ein Dokument in diesem Ordner anlegen", "Créer un document dans ce dossier"},
	},
	{
		"edit", "DOCUMENT", "Document.Update", "edit", "WriteProperties", false,
		texts{"Edit", "Bearbeiten", "Modifier"},
		texts{"Change the properties", "Die Eigenschaften ändern", "Modifier les propriétés"},
	},
	{
		"lock", "DOCUMENT", "Document.Lock", "lock", "WriteProperties", false,
		texts{"Lock", "Sperren", "Verrouiller"},
		texts{"Keep others from changing it", "Andere am Ändern hindern", "Empêcher les autres de le modifier"},
	},
	{
		"subscribe", "DOCUMENT", "Document.Subscribe", "bell", "Read", false,
		texts{"Subscribe", "Abonnieren", "S’abonner"},
		texts{"Be told what happens here", "Erfahren, was hier geschieht", "Être averti de ce qui se passe ici"},
	},
	{
		"share", "DOCUMENT", "Document.AddPermission", "share", "WriteSecurity", false,
		texts{"Share", "Teilen", "Partager"},
		texts{"Give somebody a permission", "Jemandem ein Recht geben", "Donner un droit à quelqu’un"},
	},
	{
		"trash", "DOCUMENT", "Document.Trash", "trash", "Remove", false,
		texts{"Move to the trash", "In den Papierkorb", "Mettre à la corbeille"},
		texts{"It can be taken out again", "Es kann wieder herausgeholt werden", "Il pourra en être retiré"},
	},
	{
		"createUser", "ADMINISTRATION", "User.CreateOrUpdate", "user", "", false,
		texts{"New user", "Neuer Benutzer", "Nouvel utilisateur"},
		texts{"Make a user", "Einen Benutzer anlegen", "Créer un utilisateur"},
	},
	{
		"jobs", "ADMINISTRATION", "Job.List", "jobs", "", false,
		texts{"Jobs", "Aufträge", "Tâches"},
		texts{"See what waits, runs and failed", "Sehen, was wartet, läuft und fehlschlug", "Voir ce qui attend, s’exécute et a échoué"},
	},
}
