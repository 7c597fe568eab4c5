"""Analysis of the question: parsing, method, vector, entities, rare names, absent ids."""
